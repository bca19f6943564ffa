### The volcano's texts in English.
###
### Glossary: Rock (Fels), Explore (Erkunden), One, Two, Three, Fire; figure; field; temple, well, crystal, tower;
### amulet, elixir, crystal, stone; guardian; stone tablet; statue; ruin; Ariki; Hermit; Beachcomber.
### Fields: beach, jungle, mountains, ruin, statue (Strand, Dschungel, Berge, Ruine, Statue); sensor chip, colour pad, rail.
### Parts of sentences carry the attribute part.

## Parts

figure-names = { $figure ->
    [white] White
    [red] Red
    [green] Green
   *[black] Black
 }
    .part = a figure's name
relic-one = { $relic ->
    [amulet] one amulet
    [elixir] one elixir
    [crystal] one crystal
   *[stone] one stone
 }
    .part = singular
relic-a = { $relic ->
    [amulet] an amulet
    [elixir] an elixir
    [crystal] a crystal
   *[stone] a stone
 }
    .part = with its article
relic-plural = { $relic ->
    [amulet] amulets
    [elixir] elixirs
    [crystal] crystals
   *[stone] stones
 }
    .part = plural
creature-noun = { $creature ->
    [spider] giant spider
    [snake] snake
    [griffin] griffin
    [dragon] dragon
    [gnome] gnome
    [triton] triton
   *[golem] lava golem
 }
    .part = noun

## Switching on, ready, settings

welcome = Welcome to the island!
how-to-start = Press the button and I will show you the game. Or stand a figure on a beach field with a rowing boat, hold it by the head and touch Explore.
batteries-weak = The batteries are weak. Please change them after this game.
misconfigured = A file with my settings has an error. I use the usual ones instead.
goes-on = Your game goes on.
last = The last turn was { figure-names }'s.
given-up = Very well, this game is over.
who = Who is it? White touches One, Red Two, Green Three, and Black Fire.
explores = { figure-names } explores.
inferred = That is { figure-names }.
volume = Volume { $volume }.
settings = Settings. One: German. Two: English. Three: volume. Explore: self-test. The button ends the settings.
language = I speak English.
self-test = Self-test. Watch the lights and listen well.
light = { $symbol ->
    [star] Star.
    [circle] Circle.
    [triangle] Triangle.
    [square] Square.
   *[ariki] The Ariki.
 }
no-faults = Every part answers.
faults = { $faults ->
    [one] One part does not answer.
   *[other] { $faults } parts do not answer.
 }
faults-many = I will name the first nine.
fault-bus = No sensor chip can be reached.
fault-chip = Sensor chip { $chip } does not answer.
fault-pad = This has no good contact:
fault-light = This light is out of order:
fault-button = The button is stuck or does not answer.
fault-battery = The battery signal does not answer.
fault-sound = The sound card does not answer.
check-mode = Now I name every contact. On each field, hold a figure by the head and touch Rock, Explore, a number or Fire. The button leads back to the settings.
figure-name = { figure-names }.
figure-unknown = Unknown figure.
field-name = { $field ->
    [beach-ne] Beach northeast.
    [beach-se] Beach southeast.
    [beach-s] Beach south.
    [beach-sw] Beach southwest.
    [beach-nw] Beach northwest.
    [jungle-n] Jungle north.
    [jungle-ne] Jungle northeast.
    [jungle-se] Jungle southeast.
    [jungle-s] Jungle south.
    [jungle-w] Jungle west.
    [jungle-nw] Jungle northwest.
    [mountain-ne] Mountains northeast.
    [mountain-se] Mountains southeast.
    [mountain-sw] Mountains southwest.
    [mountain-nw] Mountains northwest.
    [ruin-n] Ruin north.
    [ruin-e] Ruin east.
    [ruin-s] Ruin south.
    [ruin-w] Ruin west.
    [statue-n] Statue north.
    [statue-e] Statue east.
    [statue-s] Statue south.
    [statue-w] Statue west.
   *[other] A field without a name.
 }
touch-name = { $touch ->
    [rock] Rock.
    [explore] Explore.
    [one] One.
    [two] Two.
    [three] Three.
   *[fire] Fire.
 }
rail-name = { $rail ->
    [a] Rail A.
    [b] Rail B.
   *[c] Rail C.
 }
badge-name = Colour pad { figure-names }.
signal-place = This is a new place.
signal-points = These are two points.
signal-creature = This is a creature.
signal-error = And this is a turn that is not allowed.

## Calibrating a board: the command calibrate

calibrate-clear = Take all figures off the board, and your hands away.
calibrate-touch = Touch:
calibrate-heard = Good.
calibrate-again = That was not clear. Once more:
calibrate-figure = Hold this figure by the head on a field, and touch Explore:
calibrate-done = Done. I have remembered everything.
calibrate-failed = That did not work. The screen says why.

## Help after two errors

hint-not-a-boat-field = Every figure begins on a beach field with a rowing boat.
hint-boat-taken = Somebody has landed here already. Take another field with a boat.
hint-too-late-to-enter = The game has gone too far. A new figure can no longer land.
hint-nothing-pending = No question is open. Touch Explore first.
hint-not-yours = The open question is for another figure. Whoever explores begins a new turn.
hint-wrong-number = That answer does not fit here. Press the button to hear the question again.

## The introductory game

intro-welcome = How good of you to come! In eleven turns I will show you how the island works. White and Red take part.
intro-go-1 = White begins: stand your figure on the beach field with the rowing boat in the south. Hold it by the head and touch Explore with your other hand.
intro-go-2 = Now Red: land on the beach field with the boat in the southwest, and explore.
intro-go-3 = White again: go from the beach into the jungle in the south, and explore.
intro-go-4 = Red moves two fields: past the statue in the west and into the jungle. Explore there.
intro-go-5 = White climbs into the mountains in the southwest, and explores.
intro-go-6 = Red walks past the ruin to the beach in the northwest, and explores.
intro-go-7 = White crosses the Ariki's field to the ruin in the west, and explores.
intro-go-7-answer = White has an amulet. Put the card back, hold your figure and touch One.
intro-go-8 = Red goes into the jungle in the northwest, and explores.
intro-go-9 = Red may go on at once: jump to the ruin in the south, and explore.
intro-go-9-answer = Red has a crystal. Put the card back, hold your figure and touch One.
intro-go-10 = White crosses the Ariki's field to the statue in the west, and explores.
intro-go-11 = White has no stone tablet yet, so the turn is over. Red faces the giant spider: go to the temple on the beach in the south, and explore.
intro-go-11-answer = Fight with your elixir: put the card back, hold your figure and touch One.
intro-finished = That was the introductory game. Now you know the island. Stand a figure on a field with a rowing boat, and your first real adventure begins!

## Landing and discovering

game-started = { $level ->
    [beginner] The adventure begins.
    [advanced] The advanced adventure begins.
   *[expert] The expert adventure begins. The volcano is wide awake.
 }
entered = { figure-names } sets foot on the island.
    .other = Welcome ashore, { figure-names }.
discovered = { figure-names } discovers { $site ->
    [temple] a temple
    [well] a well
    [crystal] a great crystal
   *[tower] a tower
 }!
revisited = { figure-names } comes to the { $site ->
    [temple] temple.
    [well] well.
    [crystal] great crystal.
   *[tower] tower.
 }
    .other = { $site ->
    [temple] The temple greets { figure-names }.
    [well] The well murmurs for { figure-names }.
    [crystal] The great crystal gleams for { figure-names }.
   *[tower] The tower rises before { figure-names }.
 }
finds = { $found ->
    [0] There is nothing to find here today.
    [one] You find { relic-a }.
    [2] You find two { relic-plural }.
    [3] You find three { relic-plural }.
   *[4] You find four { relic-plural }.
 }
    .other = { $found ->
    [0] You search, but nothing is there.
    [one] Take { relic-a }.
    [2] Take two { relic-plural }.
    [3] Take three { relic-plural }.
   *[4] Take four { relic-plural }.
 }
points = { $points ->
    [one] One point.
   *[other] { $points } points.
 }
set-completed = { figure-names } now knows all three { $site ->
    [temple] temples
    [well] wells
    [crystal] crystals
   *[tower] towers
 }!

## The Ariki

ariki-found = Greetings, { figure-names }. I am the Ariki, the last keeper of this island.
    .voice = ariki
ariki-cards = { $cards ->
    [one] Take one Ariki card.
   *[other] Take two Ariki cards.
 }
    .voice = ariki
ariki-again = How good to see you, { figure-names }.
    .voice = ariki
    .other = You always find your way to me, { figure-names }.
standings = This is how your fame stands.
    .voice = ariki
    .other = Hear what you have achieved so far.
story-1 = Listen to me, for no one has listened in a very long time.
    .voice = ariki
story-2 = A thousand years ago this island was the home of my people.
    .voice = ariki
story-3 = We built temples and towers, we dug wells, and we made crystals grow.
    .voice = ariki
story-4 = But deep in the mountain something old was sleeping, and one night it opened its eyes.
    .voice = ariki
story-5 = The volcano spat out its creatures, and my people fled across the sea.
    .voice = ariki
story-6 = I stayed. And now the mountain is rumbling again, louder than ever before.
    .voice = ariki
story-7 = Only the four statues of stone can tame it, but they are fast asleep.
    .voice = ariki
story-8 = In the ruins four guardians are waiting. Bring them relics, as many as they demand.
    .voice = ariki
story-9 = Then they will give you stone tablets. Seven tablets in seven colours awaken a statue.
    .voice = ariki
story-10 = Be on your guard: seven creatures will the volcano send you, and every one of them is greedy.
    .voice = ariki
story-11 = When all of them stand on the island at once, the volcano erupts. Then only a statue that is awake can save us.
    .voice = ariki
story-12 = Go now. The island is counting on you, and I am counting too.
    .voice = ariki

## Hermit and Beachcomber

hermit-found = Who wakes me? Ah, { figure-names }. I am the Hermit, and my caves lead everywhere.
    .voice = hermit
hermit-question = Go wherever you like, and explore there at once.
    .voice = hermit
    .other = Choose a field, any field. Explore it right away.
beachcomber-found = Oh, a visitor! Welcome, { figure-names }. I am the Beachcomber. What the sea washes up is mine.
    .voice = beachcomber
relic-choice = { $choice ->
    [one] Choose a relic, whichever you like.
   *[other] Choose two relics, whichever you like.
 }
    .voice = beachcomber
exchange = Trade as many relics with me as you like.
    .voice = beachcomber
    .other = Well, don't you like yours? I will trade any relic.
beachcomber-bonus = A statue has awoken, I saw it! For that you shall have a reward.
    .voice = beachcomber

## Ruins and guardians

field-silent = The ruin lies silent. Nobody shows himself here yet.
    .other = Only the wind blows through the ruin.
guardian-appears = Halt! I am the Guardian of the { $relic ->
    [amulet] Amulets
    [elixir] Elixirs
    [crystal] Crystals
   *[stone] Stones
 }. I keep the stone tablets.
    .voice = guardian-{ $relic }
guardian-demands = Bring me { $demand } { relic-plural }, and I will share the tablets out among you.
    .voice = guardian-{ $relic }
guardian-question = How many do you give? One, Two, Three, or none?
    .other = One, Two or Three?
guardian-waits = The guardian is waiting for { relic-plural }.
guardian-reminder = How many do you give? Touch One, Two or Three. If you give nothing, your turn is over.
guardian-knows = There you are again, { figure-names }. I have not forgotten your { relic-plural }.
    .voice = guardian-{ $relic }
guardian-new = You have brought me nothing yet, { figure-names }. I am waiting for { relic-plural }.
    .voice = guardian-{ $relic }
guardian-credit = Nobody has been here for a long time. I credit you with { relic-one }.
    .voice = guardian-{ $relic }
missing = { $missing ->
    [0] Nothing is missing.
    [one] Only one relic is still missing.
   *[other] { $missing } relics are still missing.
 }
tablets = { figure-names } receives { $tablets ->
    [one] one stone tablet.
    [2] two stone tablets.
    [3] three stone tablets.
   *[4] four stone tablets.
 }
guardian-rests = It is enough. Now I rest.
    .voice = guardian-{ $relic }
tablet-offered = I will give you a stone tablet for { $price ->
    [one] { relic-one }.
    [2] two { relic-plural }.
   *[3] three { relic-plural }.
 } Will you? Then touch { $price ->
    [one] One.
    [2] Two.
   *[3] Three.
 }
    .voice = guardian-{ $relic }

## Statues

statue-asks = The statue is asleep.
    .other = The face of stone stays silent.
tablets-missing = { $missing ->
    [0] All stone tablets are there.
    [one] Only one stone tablet is missing.
   *[other] { $missing } stone tablets are still missing.
 }
statue-question = { $most ->
    [1] Will you lay it down? Then touch One.
    [2] How many do you lay down? One or Two?
   *[3] How many do you lay down? One, Two or Three?
 }
statue-awakens = { $direction ->
    [north] The statue in the north opens its eyes! The mountain grows quieter.
    [east] The statue in the east opens its eyes! The mountain grows quieter.
    [south] The statue in the south opens its eyes! The mountain grows quieter.
   *[west] The statue in the west opens its eyes! The mountain grows quieter.
 }
statue-greets = The statue is awake and nods to you.

## Creatures

creature-appears = The { creature-noun } appears
    .voice = volcano
appears-place = { place }
    .voice = volcano
gnome-again = You again!, grumbles the gnome.
gnome-cards = { $cards ->
    [one] The gnome has lost an Ariki card. Take it.
   *[other] The gnome has lost two Ariki cards. Take them.
 }
golem-tablet = Something glitters in the golem's ashes.
creature-name = The { creature-noun }:
creature-met = { $creature ->
    [spider] Eight legs and a web: the giant spider bars your way!
    [snake] A hiss in the grass: the snake rears up before you!
    [griffin] A rush of wings: the griffin guards this field!
    [dragon] It is growing hot: the dragon stands before you!
    [gnome] Somebody giggles: the gnome steps in your way!
    [triton] It drips and roars: the triton raises his trident!
   *[golem] The ground is glowing: the lava golem stirs!
 }
    .other = Look out, the { creature-noun }!
creature-wants = { $creature ->
    [spider] Elixirs help against the giant spider.
    [snake] Any relic helps against the snake.
    [griffin] Crystals help against the griffin.
    [dragon] Amulets help against the dragon.
    [gnome] The gnome is choosy.
    [triton] Stones help against the triton.
   *[golem] Stones help against the lava golem.
 }
gnome-wants = He wants { relic-plural }.
fight-reminder = { fight-question }
fight-question = Will you fight with one, two or three relics, with fire, or not at all?
    .other = One, Two, Three or Fire?
creature-vanishes = Look, the { creature-noun } vanishes from the island!
    .voice = ariki
    .other = You did it! The { creature-noun } is gone!
    .another = What a fight! The { creature-noun } gives up and leaves the island!
creature-flees = The { creature-noun } flees. It now stands
creature-stays = { $creature ->
    [spider] The giant spider only laughs at that. Your turn is over.
    [snake] The snake does not yield an inch. Your turn is over.
    [griffin] The griffin merely shakes its feathers. Your turn is over.
    [dragon] The dragon yawns a flame. Your turn is over.
    [gnome] The gnome sticks out his tongue. Your turn is over.
    [triton] The triton stands like a wall. Your turn is over.
   *[golem] The lava golem hardly feels it. Your turn is over.
 }
    .other = The { creature-noun } stays. Your turn is over.
creature-flees-strength = The { creature-noun } feels your strength and vanishes!
    .voice = ariki
strengthened = The crystals make { figure-names } strong. The next other creature will vanish before you.
dragon-attacks = The dragon swoops down on { figure-names }!
    .voice = volcano
no-creatures = There is no creature on the island.
place = { $place ->
    [temple-beach] at the temple on the beach.
    [well-beach] at the well on the beach.
    [crystal-beach] at the great crystal on the beach.
    [tower-beach] at the tower on the beach.
    [temple-jungle] at the temple in the jungle.
    [well-jungle] at the well in the jungle.
    [crystal-jungle] at the great crystal in the jungle.
    [tower-jungle] at the tower in the jungle.
    [temple-mountains] at the temple in the mountains.
    [well-mountains] at the well in the mountains.
    [crystal-mountains] at the great crystal in the mountains.
    [tower-mountains] at the tower in the mountains.
    [ariki] at the Ariki's.
    [hermit] at the Hermit's.
    [beachcomber] at the Beachcomber's.
    [ruin-north] at the ruin in the north.
    [ruin-east] at the ruin in the east.
    [ruin-south] at the ruin in the south.
    [ruin-west] at the ruin in the west.
    [statue-north] at the statue in the north.
    [statue-east] at the statue in the east.
    [statue-south] at the statue in the south.
    [statue-west] at the statue in the west.
    [unexplored-beach] on an unexplored field on the beach.
    [unexplored-jungle] on an unexplored field in the jungle.
   *[unexplored-mountains] on an unexplored field in the mountains.
 }

## The end

over-lost = All seven creatures are here, and no statue is awake. The volcano erupts, and the island sinks. Only the points from your fights count now.
over-saved = All seven creatures are here! The volcano rears up, but the statue holds it fast. The island is saved, and all points count!
    .voice = ariki
over-rescued = All four statues are awake! The volcano falls silent for ever. This is the full rescue, and it belongs to all of you!
    .voice = ariki
name = { figure-names }:
total = { $total ->
    [one] one point.
   *[other] { $total } points.
 }
winner = { figure-names } wins!
shared-win = A shared victory! The winners are:
winner-name = { figure-names }.
nobody-fought = Nobody has won a single point in a fight. Better luck next time!

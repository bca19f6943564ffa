### Die Texte des Vulkans auf Deutsch.
###
### Glossar: Fels (Rock), Erkunden (Explore), Eins, Zwei, Drei, Feuer; Figur; Feld; Tempel, Brunnen, Kristall, Turm;
### Amulett, Elixier, Kristall, Stein; Wächter; Steintafel; Statue; Ruine; Ariki; Einsiedler; Strandgutsammlerin.
### Felder: Strand, Dschungel, Berge, Ruine, Statue; Nord, Nordost …; Sensorchip, Farbfeld, Schiene (sensor chip, colour pad, rail).
### Wer am Zug ist, wird mit Du angesprochen, alle zusammen mit Ihr. Bausteine tragen das Attribut part.

## Bausteine

figure-names = { $figure ->
    [white] Weiß
    [red] Rot
    [green] Grün
   *[black] Schwarz
 }
    .part = Name einer Figur
relic-accusative = { $relic ->
    [amulet] ein Amulett
    [elixir] ein Elixier
    [crystal] einen Kristall
   *[stone] einen Stein
 }
    .part = Akkusativ
relic-plural = { $relic ->
    [amulet] Amulette
    [elixir] Elixiere
    [crystal] Kristalle
   *[stone] Steine
 }
    .part = Mehrzahl
relic-genitive = { $relic ->
    [amulet] der Amulette
    [elixir] der Elixiere
    [crystal] der Kristalle
   *[stone] der Steine
 }
    .part = Genitiv
creature-nominative = { $creature ->
    [spider] die Riesenspinne
    [snake] die Schlange
    [griffin] der Greif
    [dragon] der Drache
    [gnome] der Gnom
    [triton] der Triton
   *[golem] der Lavagolem
 }
    .part = Nominativ
creature-start = { $creature ->
    [spider] Die Riesenspinne
    [snake] Die Schlange
    [griffin] Der Greif
    [dragon] Der Drache
    [gnome] Der Gnom
    [triton] Der Triton
   *[golem] Der Lavagolem
 }
    .part = Satzanfang

## Einschalten, Bereitschaft, Einstellungen

welcome = Willkommen auf der Insel!
how-to-start = Drückt den Knopf, und ich zeige euch das Spiel. Oder stellt eine Figur auf ein Strandfeld mit Ruderboot, haltet sie am Kopf und berührt Erkunden.
batteries-weak = Die Batterien sind schwach. Bitte wechselt sie nach diesem Spiel.
misconfigured = Eine Datei mit meinen Einstellungen ist fehlerhaft. Ich nehme dafür, was üblich ist.
goes-on = Euer Spiel geht weiter.
last = Zuletzt war { figure-names } am Zug.
given-up = Gut, dieses Spiel ist beendet.
who = Wer ist das? Weiß berührt Eins, Rot Zwei, Grün Drei und Schwarz Feuer.
explores = { figure-names } erkundet.
inferred = Das ist { figure-names }.
volume = Lautstärke { $volume }.
settings = Einstellungen. Eins: Deutsch. Zwei: Englisch. Drei: Lautstärke. Erkunden: Selbsttest. Der Knopf beendet die Einstellungen.
language = Ich spreche Deutsch.
self-test = Selbsttest. Achtet auf die Lichter und hört gut zu.
light = { $symbol ->
    [star] Stern.
    [circle] Kreis.
    [triangle] Dreieck.
    [square] Quadrat.
   *[ariki] Die Ariki.
 }
no-faults = Alle Teile antworten.
faults = { $faults ->
    [one] Ein Teil antwortet nicht.
   *[other] { $faults } Teile antworten nicht.
 }
faults-many = Die ersten neun nenne ich.
fault-bus = Keiner der Sensorchips ist zu erreichen.
fault-chip = Sensorchip { $chip } antwortet nicht.
fault-pad = Keinen guten Kontakt hat:
fault-light = Nicht in Ordnung ist das Licht:
fault-button = Der Knopf klemmt oder antwortet nicht.
fault-battery = Die Anzeige der Batterien antwortet nicht.
fault-sound = Die Soundkarte antwortet nicht.
check-mode = Jetzt nenne ich jeden Kontakt beim Namen. Haltet auf jedem Feld eine Figur am Kopf und berührt dazu Fels, Erkunden, eine Zahl oder Feuer. Der Knopf führt zurück zu den Einstellungen.
figure-name = { figure-names }.
figure-unknown = Unbekannte Figur.
field-name = { $field ->
    [beach-ne] Strand Nordost.
    [beach-se] Strand Südost.
    [beach-s] Strand Süd.
    [beach-sw] Strand Südwest.
    [beach-nw] Strand Nordwest.
    [jungle-n] Dschungel Nord.
    [jungle-ne] Dschungel Nordost.
    [jungle-se] Dschungel Südost.
    [jungle-s] Dschungel Süd.
    [jungle-w] Dschungel West.
    [jungle-nw] Dschungel Nordwest.
    [mountain-ne] Berge Nordost.
    [mountain-se] Berge Südost.
    [mountain-sw] Berge Südwest.
    [mountain-nw] Berge Nordwest.
    [ruin-n] Ruine Nord.
    [ruin-e] Ruine Ost.
    [ruin-s] Ruine Süd.
    [ruin-w] Ruine West.
    [statue-n] Statue Nord.
    [statue-e] Statue Ost.
    [statue-s] Statue Süd.
    [statue-w] Statue West.
   *[other] Ein Feld ohne Namen.
 }
touch-name = { $touch ->
    [rock] Fels.
    [explore] Erkunden.
    [one] Eins.
    [two] Zwei.
    [three] Drei.
   *[fire] Feuer.
 }
rail-name = { $rail ->
    [a] Schiene A.
    [b] Schiene B.
   *[c] Schiene C.
 }
badge-name = Farbfeld { figure-names }.
signal-place = So klingt ein neuer Ort.
signal-points = So klingen zwei Punkte.
signal-creature = So meldet sich eine Kreatur.
signal-error = Und so klingt ein Zug, der nicht erlaubt ist.

## Einmessen eines Bretts: der Befehl calibrate

calibrate-clear = Nehmt alle Figuren vom Brett und die Hände weg.
calibrate-touch = Berührt:
calibrate-heard = Gut.
calibrate-again = Das war nicht eindeutig. Noch einmal:
calibrate-figure = Haltet diese Figur auf einem Feld am Kopf und berührt dazu Erkunden:
calibrate-done = Fertig. Ich habe mir alles gemerkt.
calibrate-failed = Das hat nicht geklappt. Der Grund steht auf dem Bildschirm.

## Hilfen nach zwei Fehlern

hint-not-a-boat-field = Jede Figur beginnt auf einem Strandfeld mit Ruderboot.
hint-boat-taken = Hier ist schon jemand gelandet. Nimm ein anderes Feld mit Ruderboot.
hint-too-late-to-enter = Das Spiel ist schon zu weit. Eine neue Figur kann nicht mehr landen.
hint-nothing-pending = Gerade ist keine Frage offen. Berühre zuerst Erkunden.
hint-not-yours = Die offene Frage gilt einer anderen Figur. Wer erkundet, beginnt einen neuen Zug.
hint-wrong-number = Diese Antwort passt hier nicht. Mit dem Knopf hörst du die Frage noch einmal.

## Das Einführungsspiel

intro-welcome = Schön, dass ihr da seid! Elf Züge lang zeige ich euch, wie die Insel funktioniert. Weiß und Rot machen mit.
intro-go-1 = Weiß beginnt: Stell deine Figur im Süden auf das Strandfeld mit dem Ruderboot. Halte sie am Kopf und berühre mit der anderen Hand Erkunden.
intro-go-2 = Jetzt Rot: Lande im Südwesten auf dem Strandfeld mit dem Boot und erkunde.
intro-go-3 = Weiß ist wieder dran: Geh vom Strand in den Dschungel im Süden und erkunde.
intro-go-4 = Rot zieht zwei Felder: an der Statue im Westen vorbei in den Dschungel. Erkunde dort.
intro-go-5 = Weiß steigt hinauf in die Berge im Südwesten und erkundet.
intro-go-6 = Rot geht an der Ruine vorbei zum Strand im Nordwesten und erkundet.
intro-go-7 = Weiß zieht über das Feld der Ariki zur Ruine im Westen und erkundet.
intro-go-7-answer = Weiß hat ein Amulett. Leg die Karte zurück, halte deine Figur und berühre Eins.
intro-go-8 = Rot geht in den Dschungel im Nordwesten und erkundet.
intro-go-9 = Rot darf gleich weiter: Spring zur Ruine im Süden und erkunde.
intro-go-9-answer = Rot hat einen Kristall. Leg die Karte zurück, halte deine Figur und berühre Eins.
intro-go-10 = Weiß geht über das Feld der Ariki zur Statue im Westen und erkundet.
intro-go-11 = Weiß hat noch keine Steintafel, der Zug ist vorbei. Rot stellt sich der Riesenspinne: Geh zum Tempel am Strand im Süden und erkunde.
intro-go-11-answer = Kämpfe mit deinem Elixier: Leg die Karte zurück, halte deine Figur und berühre Eins.
intro-finished = Das war das Einführungsspiel. Nun kennt ihr die Insel. Stellt eine Figur auf ein Feld mit Ruderboot, und euer erstes richtiges Abenteuer beginnt!

## Landen und entdecken

game-started = { $level ->
    [beginner] Das Abenteuer beginnt.
    [advanced] Das Abenteuer für Fortgeschrittene beginnt.
   *[expert] Das Abenteuer für Experten beginnt. Der Vulkan ist hellwach.
 }
entered = { figure-names } betritt die Insel.
    .other = Willkommen an Land, { figure-names }.
discovered = { figure-names } entdeckt { $site ->
    [temple] einen Tempel
    [well] einen Brunnen
    [crystal] einen großen Kristall
   *[tower] einen Turm
 }!
revisited = { figure-names } kommt { $site ->
    [temple] zum Tempel.
    [well] zum Brunnen.
    [crystal] zum großen Kristall.
   *[tower] zum Turm.
 }
    .other = { $site ->
    [temple] Der Tempel grüßt { figure-names }.
    [well] Der Brunnen rauscht für { figure-names }.
    [crystal] Der große Kristall schimmert für { figure-names }.
   *[tower] Vor { figure-names } ragt der Turm auf.
 }
finds = { $found ->
    [0] Heute ist hier nichts zu finden.
    [one] Du findest { relic-accusative }.
    [2] Du findest zwei { relic-plural }.
    [3] Du findest drei { relic-plural }.
   *[4] Du findest vier { relic-plural }.
 }
    .other = { $found ->
    [0] Du suchst, doch es ist nichts da.
    [one] Nimm dir { relic-accusative }.
    [2] Nimm dir zwei { relic-plural }.
    [3] Nimm dir drei { relic-plural }.
   *[4] Nimm dir vier { relic-plural }.
 }
points = { $points ->
    [one] Ein Punkt.
   *[other] { $points } Punkte.
 }
set-completed = { figure-names } kennt nun alle drei { $site ->
    [temple] Tempel
    [well] Brunnen
    [crystal] Kristalle
   *[tower] Türme
 }!

## Die Ariki

ariki-found = Sei gegrüßt, { figure-names }. Ich bin die Ariki, die letzte Hüterin dieser Insel.
    .voice = ariki
ariki-cards = { $cards ->
    [one] Nimm eine Ariki-Karte.
   *[other] Nimm zwei Ariki-Karten.
 }
    .voice = ariki
ariki-again = Schön, dich zu sehen, { figure-names }.
    .voice = ariki
    .other = Du findest immer den Weg zu mir, { figure-names }.
standings = So steht es um euren Ruhm.
    .voice = ariki
    .other = Hört, was ihr bisher erreicht habt.
story-1 = Hört mir zu, denn lange hat niemand mehr zugehört.
    .voice = ariki
story-2 = Vor tausend Jahren war diese Insel die Heimat meines Volkes.
    .voice = ariki
story-3 = Wir bauten Tempel und Türme, gruben Brunnen und ließen Kristalle wachsen.
    .voice = ariki
story-4 = Doch tief im Berg schlief etwas Altes, und eines Nachts schlug es die Augen auf.
    .voice = ariki
story-5 = Der Vulkan spie seine Kreaturen aus, und mein Volk floh über das Meer.
    .voice = ariki
story-6 = Ich blieb. Und jetzt grollt der Berg von Neuem, lauter als je zuvor.
    .voice = ariki
story-7 = Nur die vier steinernen Statuen können ihn bändigen, aber sie schlafen fest.
    .voice = ariki
story-8 = In den Ruinen warten vier Wächter. Bringt ihnen Relikte, so viele sie verlangen.
    .voice = ariki
story-9 = Dann geben sie euch Steintafeln. Sieben Tafeln in sieben Farben wecken eine Statue.
    .voice = ariki
story-10 = Nehmt euch in Acht: Sieben Kreaturen wird der Vulkan euch schicken, und alle sind gierig.
    .voice = ariki
story-11 = Stehen sie alle zugleich auf der Insel, bricht der Vulkan aus. Dann rettet uns nur eine wache Statue.
    .voice = ariki
story-12 = Geht nun. Die Insel zählt auf euch, und ich zähle mit.
    .voice = ariki

## Einsiedler und Strandgutsammlerin

hermit-found = Wer weckt mich? Ach, { figure-names }. Ich bin der Einsiedler, und meine Höhlen führen überallhin.
    .voice = hermit
hermit-question = Geh, wohin du willst, und erkunde dort gleich weiter.
    .voice = hermit
    .other = Such dir ein Feld aus, irgendeins. Erkunde es sofort.
beachcomber-found = Oh, Besuch! Willkommen, { figure-names }. Ich bin die Strandgutsammlerin. Was das Meer anspült, gehört mir.
    .voice = beachcomber
relic-choice = { $choice ->
    [one] Such dir ein Relikt aus, ganz wie du magst.
   *[other] Such dir zwei Relikte aus, ganz wie du magst.
 }
    .voice = beachcomber
exchange = Tausch mit mir so viele Relikte, wie du willst.
    .voice = beachcomber
    .other = Na, gefällt dir deins nicht? Ich tausche jedes Relikt.
beachcomber-bonus = Eine Statue ist erwacht, ich habe es gesehen! Dafür belohne ich dich.
    .voice = beachcomber

## Ruinen und Wächter

field-silent = Die Ruine liegt still da. Noch zeigt sich hier niemand.
    .other = Nur der Wind streicht durch die Ruine.
guardian-appears = Halt! Ich bin der Wächter { relic-genitive }. Ich hüte die Steintafeln.
    .voice = guardian-{ $relic }
guardian-demands = Bringt mir { $demand } { relic-plural }, dann teile ich die Tafeln unter euch auf.
    .voice = guardian-{ $relic }
guardian-question = Wie viele gibst du? Eins, Zwei, Drei, oder keins?
    .other = Eins, Zwei oder Drei?
guardian-waits = Der Wächter wartet auf { relic-plural }.
guardian-reminder = Wie viele gibst du? Berühre Eins, Zwei oder Drei. Wer nichts geben mag, ist fertig.
guardian-knows = Da bist du wieder, { figure-names }. Ich habe deine { relic-plural } nicht vergessen.
    .voice = guardian-{ $relic }
guardian-new = Du hast mir noch nichts gebracht, { figure-names }. Ich warte auf { relic-plural }.
    .voice = guardian-{ $relic }
guardian-credit = Lange war niemand hier. Ich rechne dir { $relic ->
    [amulet] ein Amulett
    [elixir] ein Elixier
    [crystal] einen Kristall
   *[stone] einen Stein
 } an.
    .voice = guardian-{ $relic }
missing = { $missing ->
    [0] Es fehlt nichts mehr.
    [one] Nur ein Relikt fehlt noch.
   *[other] Noch { $missing } Relikte fehlen.
 }
tablets = { figure-names } bekommt { $tablets ->
    [one] eine Steintafel.
    [2] zwei Steintafeln.
    [3] drei Steintafeln.
   *[4] vier Steintafeln.
 }
guardian-rests = Es ist genug. Nun ruhe ich.
    .voice = guardian-{ $relic }
tablet-offered = Ich gebe dir eine Steintafel für { $price ->
    [one] { relic-accusative }.
    [2] zwei { relic-plural }.
   *[3] drei { relic-plural }.
 } Willst du? Dann berühre { $price ->
    [one] Eins.
    [2] Zwei.
   *[3] Drei.
 }
    .voice = guardian-{ $relic }

## Statuen

statue-asks = Die Statue schläft.
    .other = Das steinerne Gesicht bleibt stumm.
tablets-missing = { $missing ->
    [0] Alle Steintafeln liegen da.
    [one] Nur eine Steintafel fehlt noch.
   *[other] Noch { $missing } Steintafeln fehlen.
 }
statue-question = { $most ->
    [1] Legst du sie hin? Dann berühre Eins.
    [2] Wie viele legst du hin? Eins oder Zwei?
   *[3] Wie viele legst du hin? Eins, Zwei oder Drei?
 }
statue-awakens = { $direction ->
    [north] Die Statue im Norden öffnet die Augen! Der Berg wird leiser.
    [east] Die Statue im Osten öffnet die Augen! Der Berg wird leiser.
    [south] Die Statue im Süden öffnet die Augen! Der Berg wird leiser.
   *[west] Die Statue im Westen öffnet die Augen! Der Berg wird leiser.
 }
statue-greets = Die Statue ist wach und nickt dir zu.

## Kreaturen

creature-appears = { creature-start } erscheint
    .voice = volcano
appears-place = { place }
    .voice = volcano
gnome-again = Schon wieder du!, schimpft der Gnom.
gnome-cards = { $cards ->
    [one] Der Gnom hat eine Ariki-Karte verloren. Nimm sie.
   *[other] Der Gnom hat zwei Ariki-Karten verloren. Nimm sie.
 }
golem-tablet = Etwas glänzt in der Asche des Golems.
creature-name = { creature-start }:
creature-met = { $creature ->
    [spider] Acht Beine und ein Netz: Die Riesenspinne versperrt dir den Weg!
    [snake] Es zischelt im Gras: Die Schlange richtet sich vor dir auf!
    [griffin] Flügel rauschen: Der Greif bewacht dieses Feld!
    [dragon] Heiß wird es hier: Der Drache steht vor dir!
    [gnome] Es kichert: Der Gnom stellt sich dir in den Weg!
    [triton] Es rauscht und tropft: Der Triton hebt seinen Dreizack!
   *[golem] Der Boden glüht: Der Lavagolem rührt sich!
 }
    .other = Vorsicht, { creature-nominative }!
creature-wants = { $creature ->
    [spider] Gegen die Riesenspinne helfen Elixiere.
    [snake] Gegen die Schlange hilft jedes Relikt.
    [griffin] Gegen den Greif helfen Kristalle.
    [dragon] Gegen den Drachen helfen Amulette.
    [gnome] Der Gnom ist wählerisch.
    [triton] Gegen den Triton helfen Steine.
   *[golem] Gegen den Lavagolem helfen Steine.
 }
gnome-wants = { $relic ->
    [amulet] Er will Amulette.
    [elixir] Er will Elixiere.
    [crystal] Er will Kristalle.
   *[stone] Er will Steine.
 }
fight-reminder = { fight-question }
fight-question = Kämpfst du mit einem, zwei oder drei Relikten, mit Feuer, oder gar nicht?
    .other = Eins, Zwei, Drei oder Feuer?
creature-vanishes = Seht nur, { creature-nominative } verschwindet von der Insel!
    .voice = ariki
    .other = Geschafft! { creature-start } ist fort!
    .another = Welch ein Kampf! { creature-start } gibt auf und verlässt die Insel!
creature-flees = { creature-start } flieht. Jetzt steht { $creature ->
    [spider] sie
    [snake] sie
   *[other] er
 }
creature-stays = { $creature ->
    [spider] Die Riesenspinne lacht nur darüber. Dein Zug ist vorbei.
    [snake] Die Schlange weicht keinen Fingerbreit. Dein Zug ist vorbei.
    [griffin] Der Greif schüttelt nur die Federn. Dein Zug ist vorbei.
    [dragon] Der Drache gähnt dir eine Flamme entgegen. Dein Zug ist vorbei.
    [gnome] Der Gnom streckt dir die Zunge heraus. Dein Zug ist vorbei.
    [triton] Der Triton bleibt stehen wie eine Mauer. Dein Zug ist vorbei.
   *[golem] Der Lavagolem spürt das kaum. Dein Zug ist vorbei.
 }
    .other = { creature-start } bleibt. Dein Zug ist vorbei.
creature-flees-strength = { creature-start } spürt deine Kraft und verschwindet!
    .voice = ariki
strengthened = Die Kristalle machen { figure-names } stark. Die nächste andere Kreatur verschwindet vor dir.
dragon-attacks = Der Drache stürzt sich auf { figure-names }!
    .voice = volcano
no-creatures = Keine Kreatur ist auf der Insel.
place = { $place ->
    [temple-beach] beim Tempel am Strand.
    [well-beach] beim Brunnen am Strand.
    [crystal-beach] beim großen Kristall am Strand.
    [tower-beach] beim Turm am Strand.
    [temple-jungle] beim Tempel im Dschungel.
    [well-jungle] beim Brunnen im Dschungel.
    [crystal-jungle] beim großen Kristall im Dschungel.
    [tower-jungle] beim Turm im Dschungel.
    [temple-mountains] beim Tempel in den Bergen.
    [well-mountains] beim Brunnen in den Bergen.
    [crystal-mountains] beim großen Kristall in den Bergen.
    [tower-mountains] beim Turm in den Bergen.
    [ariki] bei der Ariki.
    [hermit] beim Einsiedler.
    [beachcomber] bei der Strandgutsammlerin.
    [ruin-north] an der Ruine im Norden.
    [ruin-east] an der Ruine im Osten.
    [ruin-south] an der Ruine im Süden.
    [ruin-west] an der Ruine im Westen.
    [statue-north] an der Statue im Norden.
    [statue-east] an der Statue im Osten.
    [statue-south] an der Statue im Süden.
    [statue-west] an der Statue im Westen.
    [unexplored-beach] auf einem unerforschten Feld am Strand.
    [unexplored-jungle] auf einem unerforschten Feld im Dschungel.
   *[unexplored-mountains] auf einem unerforschten Feld in den Bergen.
 }

## Das Ende

over-lost = Alle sieben Kreaturen sind da, und keine Statue wacht. Der Vulkan bricht aus, die Insel versinkt. Nur die Punkte aus euren Kämpfen zählen noch.
over-saved = Alle sieben Kreaturen sind da! Der Vulkan bäumt sich auf, doch die Statue hält ihn fest. Die Insel ist gerettet, und alle Punkte zählen!
    .voice = ariki
over-rescued = Alle vier Statuen sind wach! Der Vulkan verstummt für immer. Das ist die vollkommene Rettung, und sie gehört euch allen!
    .voice = ariki
name = { figure-names }:
total = { $total ->
    [one] ein Punkt.
   *[other] { $total } Punkte.
 }
winner = { figure-names } gewinnt!
shared-win = Geteilter Sieg! Gemeinsam gewinnen:
winner-name = { figure-names }.
nobody-fought = Niemand hat im Kampf einen Punkt errungen. Beim nächsten Mal!

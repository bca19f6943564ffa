// The page's own words in German and English; what the volcano says comes from the unit.

const COMPASS = {
  de: { n: "Norden", ne: "Nordosten", e: "Osten", se: "Südosten", s: "Süden", sw: "Südwesten", w: "Westen", nw: "Nordwesten" },
  en: { n: "north", ne: "north-east", e: "east", se: "south-east", s: "south", sw: "south-west", w: "west", nw: "north-west" },
};

const WORDS = {
  de: {
    title: "Die Insel",
    other: "English", other_title: "Page in English",
    sound_on: "Ton an", sound_on_title: "Ton ausschalten (M)",
    sound_off: "Ton aus", sound_off_title: "Ton einschalten (M)",
    sound_refused: "Für Ton tippen", sound_refused_title: "Der Browser spielt erst Ton, wenn auf der Seite getippt, geklickt oder eine Taste gedrückt wurde",
    sound_here: "Ton am Rechner", sound_here_title: "Der Vulkan spricht aus dem Lautsprecher des Rechners, auf dem er läuft, nicht aus dieser Seite",
    sound_board: "Ton am Brett", sound_board_title: "Der Vulkan spricht aus dem Lautsprecher im Brett, nicht aus dieser Seite",
    sound_none: "Ohne Ton", sound_none_title: "Der Vulkan läuft ohne Ton; was er sagt, steht auf der Seite",
    board: "Das Spielbrett", speech: "Was der Vulkan sagt", figures: "Figuren", touches: "Touchfelder", volcano: "Der Vulkan",
    switch: "Schalter", button: "Knopf", battery: "Batterie schwach",
    service: "Wartung", all_well: "Alle Teile antworten.",
    check_bus: "Prüfe, was sie teilen: SDA, SCL, 3,3 V und Masse, und ob I2C eingeschaltet ist.",
    check_chip: "Prüfe seine Drähte: SDA, SCL, 3,3 V, Masse und ADDR.",
    check_pad: "Prüfe Draht und Lötstellen, auch auf einen Kurzschluss.",
    check_light: "Prüfe seinen Draht, und ob ein anderes Programm seinen Pin benutzt.",
    check_button: "Prüfe, ob er klemmt, ob sein Draht Masse berührt und ob ein anderes Programm seinen Pin benutzt.",
    check_battery: "Prüfe ihre Drähte und was in der Verdrahtungsdatei von ihr steht.",
    check_sound: "Prüfe ihre Drähte und ihren Namen in den Einstellungen (/etc/volcano.toml).",
    refused_busy: "Der Vulkan ist beschäftigt. Versuche es gleich noch einmal.",
    refused_aside: "Die Figur steht neben dem Brett. Klicke zuerst auf ein Feld.",
    battery_title: "Schwache Batterien einlegen",
    latch: "Knopf festhalten", latch_title: "Der nächste Druck auf den Knopf bleibt, bis er noch einmal gedrückt wird: zum Einschalten mit gedrücktem Knopf",
    white: "Weiß", red: "Rot", green: "Grün", black: "Schwarz",
    rock: "Fels", explore: "Erkunden", one: "Eins", two: "Zwei", three: "Drei", fire: "Feuer",
    beside: "neben dem Brett", stands: "{figure} steht hier", boat: "mit Ruderboot", put_aside: "Neben das Brett stellen",
    beach: "Strand im {compass}", jungle: "Dschungel im {compass}", mountains: "Berge im {compass}",
    ruin: "Ruine im {compass}", statue: "Statue im {compass}",
    welcome: "Noch schweigt der Vulkan.",
    welcome_why: "Er fühlt, welche Figur auf welchem Feld steht, er spricht, er leuchtet, und er kennt alle Regeln.",
    welcome_1: "Schiebe den Schalter.", welcome_2: "Drücke den runden Knopf: das Einführungsspiel.",
    welcome_3: "Wähle eine Figur und klicke auf ihr Feld.", welcome_4: "Halte ein Touchfeld gedrückt und hör zu.",
    lost: "Verbindung verloren – ich suche …", back: "Wieder verbunden",
    hint_connecting: "Der Vulkan wird gesucht …",
    hint_off: "Willkommen! Schiebe den Schalter am Vulkan auf „Ein“.",
    hint_greeting: "Der Vulkan erwacht …",
    hint_weak: "Die Batterien sind schwach. Drücke den Knopf, dann kann trotzdem gespielt werden.",
    hint_ready: "Knopf drücken: Einführungsspiel. Oder stelle eine Figur auf ein Feld mit Ruderboot und halte „Erkunden“.",
    hint_intro: "Hör zu: Wähle die genannte Figur, stelle sie auf ihr Feld und halte das genannte Touchfeld.",
    hint_game: "Figur wählen, auf ein Feld stellen, Touchfeld halten. Wer nichts verstanden hat, drückt den Knopf.",
    hint_asked: "Der Vulkan fragt, wer es war: Eins Weiß, Zwei Rot, Drei Grün, Feuer Schwarz.",
    hint_over: "Das Spiel ist aus. Ein Feld mit Ruderboot beginnt das nächste.",
    hint_choose: "Wähle zuerst eine Figur.",
    hint_aside: "{figure} steht neben dem Brett. Klicke zuerst auf ein Feld.",
    hint_placed: "{figure} steht: {field}. Halte jetzt ein Touchfeld.",
    hint_chosen: "{figure} ist gewählt. Klicke auf ein Feld.",
    hint_settings: "Ein beim Einschalten gedrückter Knopf öffnet die Einstellungen.",
    hint_settings_open: "Einstellungen: Stelle eine Figur auf ein Feld und halte Eins, Zwei, Drei oder Erkunden. Der Knopf beendet sie.",
    hint_story: "Wer die Geschichte kennt, drückt den Knopf.",
    hint_first_on: "Der Vulkan ist aus. Schiebe zuerst den Schalter.",
    narrator: "Der Vulkan", ariki: "Die Ariki", hermit: "Der Einsiedler", beachcomber: "Die Strandgutsammlerin",
    "guardian-amulet": "Der Wächter der Amulette", "guardian-elixir": "Der Wächter der Elixiere",
    "guardian-crystal": "Der Wächter der Kristalle", "guardian-stone": "Der Wächter der Steine",
    statue_voice: "Die Statue", volcano_voice: "Der Vulkan",
    s_greeting: "Begrüßung", s_harp: "Harfe: ein neuer Ort", s_bird: "Vogelruf: angekommen", s_error: "Eingabefehler",
    s_beep: "Piepton", s_rumble: "Der Vulkan grollt", s_eruption: "Der Vulkan bricht aus", s_awakening: "Eine Statue erwacht",
    "spider-gone": "Die Riesenspinne flieht", "snake-gone": "Die Schlange flieht", "griffin-gone": "Der Greif flieht", "dragon-gone": "Der Drache flieht",
    "gnome-gone": "Der Gnom flieht", "triton-gone": "Der Triton flieht", "golem-gone": "Der Lavagolem zerfällt",
    spider: "Riesenspinne", snake: "Schlange", griffin: "Greif", dragon: "Drache", gnome: "Gnom", triton: "Triton", golem: "Lavagolem",
    site_temple: "Tempel", site_well: "Brunnen", site_crystal: "Kristall", site_tower: "Turm",
    site_ariki: "Ariki", site_hermit: "Einsiedler", site_beachcomber: "Strandgutsammlerin", site_guardian: "Wächter",
    point: "1 Punkt", points: "{count} Punkte", interrupted: "unterbrochen",
    why_not_a_boat_field: "Eine Figur landet auf einem Feld mit Ruderboot.", why_boat_taken: "Hier ist schon jemand gelandet.",
    why_too_late_to_enter: "Zum Mitspielen ist es zu spät.", why_nothing_pending: "Es ist keine Frage offen.",
    why_not_yours: "Gefragt ist eine andere Figur oder ein anderes Feld.", why_wrong_number: "Diese Zahl passt hier nicht.",
    why_not_expected: "Das war nicht der nächste Zug der Einführung.", why_no_game: "So beginnt kein Spiel.",
    standings: "Punktestand", final: "Endstand",
  },
  en: {
    title: "The Island",
    other: "Deutsch", other_title: "Seite auf Deutsch",
    sound_on: "Sound on", sound_on_title: "Switch sound off (M)",
    sound_off: "Sound off", sound_off_title: "Switch sound on (M)",
    sound_refused: "Tap for sound", sound_refused_title: "The browser plays no sound before you tap, click or press a key on the page",
    sound_here: "Sound elsewhere", sound_here_title: "The volcano speaks from the loudspeaker of the computer that it runs on, not from this page",
    sound_board: "Board speaker", sound_board_title: "The volcano speaks from the loudspeaker in the board, not from this page",
    sound_none: "No sound", sound_none_title: "The volcano runs without sound; what it says is shown on the page",
    board: "The board", speech: "What the volcano says", figures: "Figures", touches: "Touch fields", volcano: "The volcano",
    switch: "Switch", button: "Button", battery: "Weak battery",
    service: "Service", all_well: "All parts answer.",
    check_bus: "Check what they share: SDA, SCL, 3.3 V and ground, and whether I2C is enabled.",
    check_chip: "Check its wires: SDA, SCL, 3.3 V, ground and ADDR.",
    check_pad: "Check the wire and its joints, also for a short.",
    check_light: "Check its wire, and whether another program uses its pin.",
    check_button: "Check whether it sticks, whether its wire touches ground, and whether another program uses its pin.",
    check_battery: "Check its wires and what the wiring file says of it.",
    check_sound: "Check its wires and its name in the settings (/etc/volcano.toml).",
    refused_busy: "The volcano is busy. Try again in a moment.",
    refused_aside: "The figure stands beside the board. Click on a field first.",
    battery_title: "Put in weak batteries",
    latch: "Hold the button", latch_title: "The next press of the button stays until it is pressed again: for switching on with the button held",
    white: "White", red: "Red", green: "Green", black: "Black",
    rock: "Rock", explore: "Explore", one: "One", two: "Two", three: "Three", fire: "Fire",
    beside: "beside the board", stands: "{figure} stands here", boat: "with a rowing boat", put_aside: "Put beside the board",
    beach: "Beach in the {compass}", jungle: "Jungle in the {compass}", mountains: "Mountains in the {compass}",
    ruin: "Ruin in the {compass}", statue: "Statue in the {compass}",
    welcome: "The volcano is silent yet.",
    welcome_why: "It feels which figure stands on which field, it speaks, it glows, and it knows all the rules.",
    welcome_1: "Slide the switch.", welcome_2: "Press the round button: the introductory game.",
    welcome_3: "Choose a figure and click on its field.", welcome_4: "Hold a Touch field and listen.",
    lost: "Connection lost – looking for it …", back: "Connected again",
    hint_connecting: "Looking for the volcano …",
    hint_off: "Welcome! Slide the switch on the volcano to “on”.",
    hint_greeting: "The volcano awakes …",
    hint_weak: "The batteries are weak. Press the button and you can play all the same.",
    hint_ready: "Press the button for the introductory game. Or put a figure on a field with a rowing boat and hold “Explore”.",
    hint_intro: "Listen: choose the figure that is named, put it on its field and hold the Touch field that is named.",
    hint_game: "Choose a figure, put it on a field, hold a Touch field. Missed something? Press the button.",
    hint_asked: "The volcano asks who it was: One white, Two red, Three green, Fire black.",
    hint_over: "The game is over. A field with a rowing boat starts the next one.",
    hint_choose: "Choose a figure first.",
    hint_aside: "{figure} stands beside the board. Click on a field first.",
    hint_placed: "{figure} stands here: {field}. Now hold a Touch field.",
    hint_chosen: "{figure} is chosen. Click on a field.",
    hint_settings: "Holding the button while switching on opens the settings.",
    hint_settings_open: "Settings: put a figure on a field and hold One, Two, Three or Explore. The button ends them.",
    hint_story: "If you know the story, press the button.",
    hint_first_on: "The volcano is switched off. Slide the switch first.",
    narrator: "The volcano", ariki: "The Ariki", hermit: "The Hermit", beachcomber: "The Beachcomber",
    "guardian-amulet": "The Guardian of the Amulets", "guardian-elixir": "The Guardian of the Elixirs",
    "guardian-crystal": "The Guardian of the Crystals", "guardian-stone": "The Guardian of the Stones",
    statue_voice: "The statue", volcano_voice: "The volcano",
    s_greeting: "Greeting", s_harp: "Harp: a new place", s_bird: "Bird call: received", s_error: "Input error",
    s_beep: "Beep", s_rumble: "The volcano rumbles", s_eruption: "The volcano erupts", s_awakening: "A statue awakens",
    "spider-gone": "The giant spider flees", "snake-gone": "The snake flees", "griffin-gone": "The griffin flees", "dragon-gone": "The dragon flees",
    "gnome-gone": "The gnome flees", "triton-gone": "The triton flees", "golem-gone": "The lava golem falls apart",
    spider: "Giant spider", snake: "Snake", griffin: "Griffin", dragon: "Dragon", gnome: "Gnome", triton: "Triton", golem: "Lava golem",
    site_temple: "Temple", site_well: "Well", site_crystal: "Crystal", site_tower: "Tower",
    site_ariki: "Ariki", site_hermit: "Hermit", site_beachcomber: "Beachcomber", site_guardian: "Guardian",
    point: "1 point", points: "{count} points", interrupted: "interrupted",
    why_not_a_boat_field: "A figure lands on a field with a rowing boat.", why_boat_taken: "Somebody has landed here already.",
    why_too_late_to_enter: "It is too late to join.", why_nothing_pending: "No question is open.",
    why_not_yours: "Another figure or another field is asked.", why_wrong_number: "That number does not fit here.",
    why_not_expected: "That was not the next move of the introduction.", why_no_game: "No game starts like this.",
    standings: "Standings", final: "Final result",
  },
};

let language = "de";

export function setLanguage(wanted) {
  language = wanted in WORDS ? wanted : "de";
  document.documentElement.lang = language;
}

export function getLanguage() {
  return language;
}

/** The word under `key` with {name} filled in; the key itself where there is no word. */
export function word(key, values = {}) {
  const text = WORDS[language][key] ?? key;
  return text.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");
}

export function has(key) {
  return key in WORDS[language];
}

/** A field's name, for example "Ruine im Westen". */
export function fieldName(group) {
  const { kind, zone, compass } = group.dataset;
  return word(kind === "site" ? zone : kind, { compass: COMPASS[language][compass] });
}

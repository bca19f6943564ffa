"""The unit: what the plastic volcano does with touches and presses, without hardware, clock or I/O.

Inputs (`Grip`, `Press`, `finished`) and the time come in; events, cues and records come out of `take()`. It knows the
modes (power-on, settings, ready, a game, its end), who touched, what is being said and what a press means; the rules of
the game and the words are others'.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from firmware.game.kernel import Begun, Chance, Ended, Event, Record, StateError
from firmware.game.kernel import Rejected as Refused
from firmware.identity import identify
from firmware.speech import Speech
from firmware.terms import (
    FIGURES,
    SYMBOLS,
    UNKNOWN,
    Contact,
    Figure,
    Grip,
    Pause,
    Press,
    Rank,
    Say,
    Sound,
    SoundName,
    Stop,
    Symbol,
    Symbols,
    Touch,
    say,
)
from firmware.unit_batteries import Batteries
from firmware.unit_events import (
    LANGUAGES,
    VOLUMES,
    BatteryLow,
    BatteryWeakened,
    Checked,
    FigureInferred,
    Interrupted,
    PoweredOn,
    Ready,
    Rejected,
    Repeated,
    Resumed,
    Settings,
    Signals,
    Volume,
    WhoAsked,
)
from firmware.unit_outages import Outages
from firmware.unit_play import Play
from firmware.unit_script import SIGNALS, contact_names, fault_lines, self_test
from firmware.unit_state import NOT_YET, Mode, UnitState, unfinished_game

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from firmware.game.kernel import Json, Rules, Title
    from firmware.terms import Fault, Item, Texts

REPEAT_QUESTION_S = 90.0
"""An open question is repeated once after so long a silence."""
SLEEP_S = 20 * 60.0
"""So long after the last touch the lights go out, whatever has been repeated since."""
GIVE_UP_S = 5.0
"""A second press within this time after the resumption message ends the resumed game."""
BEEP_EVERY_S = 5.0
HINT_AFTER = 2
"""Errors in a row after which the voice helps."""


Output = Event | Say | Sound | Symbols | Stop | Record | Settings


ANSWERS = {Touch.ONE: Figure.WHITE, Touch.TWO: Figure.RED, Touch.THREE: Figure.GREEN, Touch.FIRE: Figure.BLACK}
"""The Touch fields that answer "who is it?"."""


class Unit:
    """One volcano that is or is not switched on. A power cut is a new `Unit` with the journal's records."""

    def __init__(
        self,
        title: Title,
        texts: Callable[[str], Texts],
        *,
        settings: Settings | None = None,
        seed: int = 0,
        chance: Chance | None = None,
    ) -> None:
        self.title = title
        self.settings = settings or Settings()
        self.play = Play(title, chance or Chance(), seed)
        self.mode = Mode.OFF
        self.speech = Speech(texts(self.settings.language))
        self.lit = Symbols()
        self.faults: Sequence[Fault] = ()
        """What the hardware says is broken now; the self-test names them."""
        self.problem = ""
        """Why an unfinished game could not go on, one line for the log; empty if all is well."""
        self._load_texts = texts
        self._out: list[Output] = []
        self._repeatable: list[Item] = []
        self._told: Sequence[Event] = ()
        self._errors = 0
        self._asked: Grip | None = None
        self._inferred: tuple[Contact, Say] | None = None
        self._unfinished: Sequence[Record] = ()
        self.batteries = Batteries()
        self._outages = Outages()
        self._misconfigured = False
        self._asleep = False
        self._question_repeated = False
        self._now = 0.0
        self._last_input = 0.0
        self._idle_since = 0.0
        self._pause_until = 0.0
        self._next_beep = 0.0
        self._resumed = False
        self._give_up_until = -1.0

    # --- inputs

    def power_on(
        self,
        now: float,
        *,
        low_battery: bool = False,
        held: bool = False,
        unfinished: Sequence[Record] = (),
        misconfigured: bool = False,
    ) -> None:
        """The slide switch is on.

        `held` with the push button held, `unfinished` from the journal, `misconfigured` with defaults in place of a
        file that is wrong: that is said after the greeting.
        """
        self._now = self._last_input = now
        self._unfinished = unfinished
        self.batteries.low_at_power_on = low_battery
        self._misconfigured = misconfigured
        self._out.append(PoweredOn())
        if held:
            self._enter_settings()
        elif low_battery:
            self._out.append(BatteryLow())
            self._weaken()
        else:
            self._greet()
        self._go_on()

    def grip(self, now: float, grip: Grip) -> None:
        """Somebody holds a figure and touches a Touch field."""
        self._touched(now)
        if self.mode in (Mode.OFF, Mode.WEAK, Mode.GREETING):
            return
        self._settle_inferred()
        if self.mode is Mode.SETTINGS:
            self._set(grip.touch)
        elif self.mode is Mode.CHECKING:
            self._check(grip)
        elif self._asked is not None and identify(grip.likelihood, UNKNOWN).figure is None:
            self._answer_who(self._asked, grip.touch)
        else:
            self._asked = None
            self._recognise(grip)
        self._go_on()

    def press(self, now: float, press: Press) -> None:
        """The push button."""
        self._touched(now)
        if self.mode in (Mode.OFF, Mode.GREETING):
            return
        if self.mode is Mode.SETTINGS and press.long:  # where no Touch field answers, too
            self._out += self.speech.clear()
            self._test()
        elif self.mode in (Mode.WEAK, Mode.SETTINGS):
            self._greet()
        elif self.mode is Mode.CHECKING:
            self._out += self.speech.clear()
            self._enter_settings()
        elif self._inferred is not None:
            contact, _ = self._inferred
            self._inferred = None
            self._ask_who(Grip(contact.field, contact.touch))
        elif press.long:
            self._long_press()
        elif self.speech.telling_story:
            self._out.append(Interrupted())
            self._out += self.speech.skip_story()
        elif self.mode is Mode.READY:
            self._begin(self.play.introduce())
            self._tell(self.title.intro.opening)
        elif now <= self._give_up_until:
            self._give_up()
        else:
            self._repeat()
            if self._resumed:
                self._give_up_until = now + GIVE_UP_S
        self._go_on()

    def battery(self, now: float, low: bool) -> None:
        """The supply as it is now. Weak batteries are told of once, until power-on, when they stay weak."""
        self.batteries.measure(now, low=low and self.mode is not Mode.OFF)

    def broken(self, now: float, faults: Sequence[Fault]) -> None:
        """What does not work now. What stays so is told of once, until power-on, when the greeting has ended."""
        self._now, self.faults = now, faults
        aloud = self.mode in (Mode.READY, Mode.PLAYING, Mode.OVER) and not self._asleep
        if due := self._outages.due(now, faults, aloud=aloud):
            self.speech.remark([line for fault in due for line in fault_lines(fault)])
            self._go_on()

    def finished(self, now: float) -> None:
        """The cue that began last has been heard to its end."""
        self._now = now
        said = self.speech.current
        self.speech.ended()
        if self._inferred is not None and said is self._inferred[1]:
            self._settle_inferred()
        self._go_on()

    def tick(self, now: float) -> None:
        """Time has passed: pauses end, questions are repeated, the unit falls asleep."""
        self._now = now
        for due, act in self._timers():
            if now >= due:
                act()
        self._go_on()

    def next_timer(self) -> float | None:
        """When `tick` has something to do, None if never; `finished` may come before."""
        return min((due for due, _ in self._timers()), default=None)

    def take(self) -> list[Output]:
        """What has happened since the last call: events, cues that begin now, records and settings to keep."""
        out, self._out = self._out, []
        return out

    # --- state

    def dump(self, unfinished: Sequence[Record] = ()) -> Json:
        """The unit and its game as one JSON object; `unfinished` is what the journal holds for a unit that is off."""
        rules, game = self.play.rules, self.play.state
        if self.mode in NOT_YET:
            rules, game = self._unfinished_game(self._unfinished or unfinished)
        return UnitState(
            mode=self.mode,
            settings=self.settings,
            seed=self.play.seed,
            errors=self._errors,
            low_battery=self.batteries.low_at_power_on,
            weak=self.batteries.weak,
            weakened=self.batteries.told,
            lit=self.lit.lit,
            asked=self._asked,
            inferred=self._inferred[0] if self._inferred else None,
            resumed=self._resumed,
            repeat=self._to_repeat(),
            rules=rules.name if rules else None,
            game=game.dump() if rules else None,
        ).row()

    def restore(self, row: Json, now: float = 0.0) -> None:
        """Go on from a `dump()`: the lights are as they were, and what was being said is not.

        Raises:
            StateError: naming the key that is wrong.
        """
        state = UnitState.load(row, self.title.fields)
        self._now = self._last_input = self._idle_since = now
        self._restore_game(state)
        self.batteries = state.batteries(now)
        self.mode, self.settings = state.mode, state.settings
        self.speech.texts = self._load_texts(state.settings.language)
        self.play.seed, self._errors, self._resumed = state.seed, state.errors, state.resumed
        self._asked, self._repeatable = state.asked, state.repeat
        if self.mode is Mode.GREETING:
            self._greet()
        elif self.mode is Mode.WEAK:
            self._weaken()
        else:
            self.speech.add([Symbols(state.lit)])
        if state.inferred is not None:
            self._say_inferred(state.inferred)
        self._go_on()

    def _restore_game(self, state: UnitState) -> None:
        """The game under way, or the one that will go on after the greeting; it is recorded from here on."""
        rules, game = state.resting_game(self.title)
        if rules is None:
            return
        self._begin(self.play.begin(rules, game))
        if state.mode is Mode.OVER:
            self._out.append(Ended("over"))
        elif state.mode in NOT_YET:
            self._unfinished = [Begun(rules.name, game.dump())]
            self.play.leave()

    # --- power-on

    def _weaken(self) -> None:
        self.mode = Mode.WEAK
        self.speech.add([Symbols((Symbol.ARIKI,), blink=True)])
        self._beep()

    def _greet(self) -> None:
        self.mode = Mode.GREETING
        self._out += self.speech.clear()
        self.speech.add([Symbols(SYMBOLS), Sound(SoundName.GREETING), Symbols()])

    def _greeted(self) -> None:
        if self._misconfigured:
            self._misconfigured = False
            self.speech.add([say("misconfigured")])
        if self._unfinished and self._resume():
            return
        self._become_ready()
        if self.batteries.low_at_power_on:
            self.speech.add([say("batteries-weak", rank=Rank.CHATTER)])
        self.speech.add([say("welcome", rank=Rank.CHATTER), say("how-to-start", rank=Rank.CHATTER)])

    def _become_ready(self) -> None:
        self.mode = Mode.READY
        self._resumed, self._give_up_until, self._asked = False, -1.0, None
        self.play.leave()
        self._errors = 0
        self._repeatable, self._told = [], ()
        self._out.append(Ready())

    def _resume(self) -> bool:
        rules, game = self._unfinished_game(self._unfinished)
        self._unfinished = ()
        if rules is None:
            return False
        self.mode = Mode.PLAYING
        self.play.take_up(rules, game)
        self._out.append(Resumed(rules.last(game), rules.pending(game)))
        self._repeatable = [say("goes-on", rank=Rank.CHATTER), *self.title.script.resumed(game), *self.play.question()]
        self.speech.add(self._repeatable)
        self._resumed = True
        return True

    def _unfinished_game(self, records: Sequence[Record]) -> tuple[Rules[Any] | None, Any]:
        """What the records lead to; no rules if it is nothing to go on with."""
        try:
            return unfinished_game(self.title, records)
        except StateError as error:
            self.problem = f"the unfinished game cannot go on: {error}"
            return None, None

    def _give_up(self) -> None:
        self._out.append(Ended("stopped"))
        self._out += self.speech.clear()
        self.speech.add([Symbols(), say("given-up", rank=Rank.CHATTER)])
        self._become_ready()

    # --- who it was

    def _recognise(self, grip: Grip) -> None:
        if grip.touch is Touch.ROCK:
            self._rock(Contact(identify(grip.likelihood, UNKNOWN).figure or FIGURES[0], grip.field, grip.touch))
            return
        who = identify(grip.likelihood, self.play.prior(grip.field, grip.touch))
        if who.figure is None:
            reasons = {self.play.refusal(Contact(figure, grip.field, grip.touch)) for figure in FIGURES}
            if len(reasons) == 1 and (reason := reasons.pop()) is not None:
                self._reject(reason)
            else:
                self._ask_who(grip)
            return
        contact = Contact(who.figure, grip.field, grip.touch)
        if who.inferred and self.play.refusal(contact) is None:
            self._out.append(FigureInferred(who.figure))
            self._out += self.speech.give_way()
            self._say_inferred(contact)
        else:
            self._contact(contact)

    def _say_inferred(self, contact: Contact) -> None:
        line = "explores" if contact.touch is Touch.EXPLORE else "inferred"
        (spoken,) = self.speech.add([say(line, rank=Rank.CHATTER, figure=contact.figure)])
        self._inferred = contact, cast("Say", spoken)

    def _settle_inferred(self) -> None:
        if self._inferred is not None:
            contact, _ = self._inferred
            self._inferred = None
            self._contact(contact)

    def _ask_who(self, grip: Grip) -> None:
        self._asked = grip
        self._out.append(WhoAsked())
        self._out += self.speech.give_way()
        self.speech.add([say("who")])

    def _answer_who(self, asked: Grip, touch: Touch) -> None:
        self._asked = None
        if touch is Touch.EXPLORE:
            self._ask_who(asked)
        elif touch is not Touch.ROCK:
            self._contact(Contact(ANSWERS[touch], asked.field, asked.touch))

    # --- contacts

    def _contact(self, contact: Contact) -> None:
        try:
            begun, played, events = self.play.accept(contact)
        except Refused as refused:
            self._reject(refused.reason)
            return
        if begun is not None:
            self._begin(begun)
        self._out.append(played)
        self._tell(events)
        if not self.play.under_way:
            self._end()

    def _begin(self, begun: Begun) -> None:
        self.mode, self._asked = Mode.PLAYING, None
        self._out.append(begun)

    def _tell(self, events: Sequence[Event]) -> None:
        self._errors = 0
        self._resumed, self._give_up_until = False, -1.0
        self._question_repeated = False
        self._told = events
        self._repeatable = []
        self._out += self.speech.announce()
        self._out += events
        self.speech.add(self.play.cues(events))

    def _end(self) -> None:
        self._out.append(Ended("over"))
        if self.play.introduces:
            self._become_ready()
            return
        self.mode = Mode.OVER
        if self.batteries.low_at_power_on:
            self.speech.add([say("batteries-weak")])

    def _reject(self, reason: str) -> None:
        self._errors += 1
        self._out.append(Rejected(reason))
        items: list[Item] = [Sound(SoundName.ERROR)]
        if self._errors >= HINT_AFTER:
            items += self.play.hint(reason)
        self._out += self.speech.cut_in(items)

    def _rock(self, contact: Contact) -> None:
        self._out += self.speech.announce()
        events = self.play.rock(contact)
        if events is None:
            self._out.append(Signals())
            self.speech.add(SIGNALS)
            return
        self._out += events
        self._repeatable = [*self.play.cues(events), *self.play.question()]
        self.speech.add(self.play.cues(events))

    # --- the push button

    def _long_press(self) -> None:
        if self.mode is Mode.OVER:
            self._out += self.speech.clear()
            self.speech.add([Symbols(), say("how-to-start", rank=Rank.CHATTER)])
            self._become_ready()
        else:
            self._louder()

    def _louder(self) -> None:
        level = self.settings.volume % VOLUMES + 1
        self._change(Settings(self.settings.language, level))
        self._out.append(Volume(level))
        self._out += self.speech.give_way()
        self.speech.add([say("volume", volume=level)])

    def _repeat(self) -> None:
        self._out.append(Repeated())
        self._out += self.speech.again()
        self.speech.add(self._to_repeat())
        if self._asked is not None:
            self.speech.add([say("who")])

    def _to_repeat(self) -> list[Item]:
        """The last announcement, numbers spoken."""
        return self._repeatable or self.play.cues(self._told, repeat=True)

    # --- settings: the button held at power-on

    def _enter_settings(self) -> None:
        self.mode = Mode.SETTINGS
        self.speech.add([Symbols(SYMBOLS)])
        self.speech.add([say("settings")])

    def _set(self, touch: Touch) -> None:
        self._out += self.speech.clear()
        if touch in (Touch.ONE, Touch.TWO):
            language = LANGUAGES[touch.number - 1]
            self.speech.texts = self._load_texts(language)
            self._change(Settings(language, self.settings.volume))
            self.speech.add([say("language"), say("settings")])
        elif touch is Touch.THREE:
            self._louder()
        elif touch is Touch.EXPLORE:
            self._test()
        elif touch is Touch.ROCK:
            self.speech.add([say("settings")])
        else:
            self._out.append(Rejected("not_expected"))
            self.speech.add([Sound(SoundName.ERROR), say("settings")])

    def _test(self) -> None:
        self.mode = Mode.CHECKING
        self.speech.add(self_test(self.faults))

    def _check(self, grip: Grip) -> None:
        """After the self-test: say who touched what, and how to go on if it was Rock."""
        figure = identify(grip.likelihood, UNKNOWN).figure
        self._out.append(Checked(figure, grip.field, grip.touch))
        self._out += self.speech.clear()
        self.speech.add([Symbols(SYMBOLS), *contact_names(figure, grip.field, grip.touch)])
        if grip.touch is Touch.ROCK:
            self.speech.add([say("check-mode")])

    def _change(self, settings: Settings) -> None:
        self.settings = settings
        self._out.append(settings)

    # --- speech and time

    def _timers(self) -> Iterator[tuple[float, Callable[[], None]]]:
        """What time alone brings about, and when; what is done of it counts before the next is looked at."""
        if self.mode is Mode.OFF:
            return
        if isinstance(self.speech.current, Pause):
            yield self._pause_until, self.speech.ended
        if self.mode is Mode.WEAK:
            yield self._next_beep, self._beep
        elif not self._asleep:
            if self.mode not in NOT_YET and (due := self.batteries.due_s) is not None:
                yield due, self._tell_weakened
            if self.speech.idle and not self._question_repeated and self.play.pending is not None:
                yield max(self._last_input, self._idle_since) + REPEAT_QUESTION_S, self._repeat_question
            if self.speech.idle:
                yield self._last_input + SLEEP_S, self._fall_asleep

    def _tell_weakened(self) -> None:
        self.batteries.told = True
        self._out.append(BatteryWeakened())
        self.speech.remark([say("batteries-weak")])

    def _repeat_question(self) -> None:
        self._question_repeated = True
        self._out.append(Repeated())
        self.speech.add(self.play.question())

    def _fall_asleep(self) -> None:
        self._asleep = True
        self._out.append(Symbols())

    def _touched(self, now: float) -> None:
        self._now = self._last_input = now
        if self._asleep:
            self._asleep = False
            self._out.append(self.lit)

    def _beep(self) -> None:
        self._next_beep = self._now + BEEP_EVERY_S
        self.speech.add([Sound(SoundName.BEEP)])

    def _go_on(self) -> None:
        """Begin what comes next; the greeting's end and pauses are noticed here."""
        for cue in self.speech.begin():
            if isinstance(cue, Symbols):
                if cue == self.lit:
                    continue
                self.lit = cue
            self._out.append(cue)
        if isinstance(self.speech.current, Pause):
            self._pause_until = self._now + self.speech.current.ms / 1000
        if self.speech.idle:
            self._idle_since = self._now
            if self.mode is Mode.GREETING:
                self._greeted()
                self._go_on()

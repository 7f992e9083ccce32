// Why: every runner of this repository ends with one line that people and machines read alike: `test: 12 passed, 0 failed`.
// A failure is a line when it happens, so that a run which is cut short or long shows it, and is told in full at the end.
// Named files are reported test by test, a whole suite file by file.
import Mocha from "mocha";

/** How many of the slowest files a whole suite names at its end: those are the ones to make cheaper. */
const SLOWEST = 8;

/** What is known of a file so far. @typedef {{ passes: number, failures: number, skips: number, milliseconds: number }} Tally */

/** Characters of a failure's message that its line holds. */
const LONGEST = 400;

/** Returns the first line that has text, or all of a short message. @param {string} message */
function summary(message) {
  const line = message
    .trim()
    .split("\n")
    .map((part) => part.trim())
    .join(" | ");
  return line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line;
}

class Reporter extends Mocha.reporters.Base {
  /** @type {Map<string, Tally>} */
  #files = new Map();
  /** @type {string | undefined} */
  #current;

  /**
   * @param {Mocha.Runner} runner
   * @param {Mocha.MochaOptions} options
   */
  constructor(runner, options) {
    super(runner, options);
    runner.on("fail", (test, { message }) => {
      console.log(`not ok: ${test.fullTitle()}: ${summary(String(message))}`);
    });
    if (options.parallel) this.#reportFiles(runner);
    else new Mocha.reporters.Spec(runner, options); // with an epilogue of its own
    runner.once("end", () => {
      if (options.parallel) {
        this.#print();
        this.epilogue();
        console.log(this.#slowest());
      }
      const { passes, failures } = this.stats;
      console.log(`${process.env["SUITE"] ?? "test"}: ${passes} passed, ${failures} failed`);
    });
  }

  /** Processes send what happened in a file when that is over: its events follow one another. @param {Mocha.Runner} runner */
  #reportFiles(runner) {
    runner.on("pass", (test) => this.#add(test, "passes"));
    runner.on("fail", (test) => this.#add(test, "failures"));
    runner.on("pending", (test) => this.#add(test, "skips"));
    runner.on("hook end", (hook) => this.#add(hook));
  }

  /** @param {Mocha.Runnable} runnable @param {"passes" | "failures" | "skips"} [outcome] */
  #add({ file, duration = 0 }, outcome) {
    if (!file) return; // a hook of test/_setup
    if (file !== this.#current) this.#print();
    this.#current = file;
    const tally = this.#files.get(file) ?? { passes: 0, failures: 0, skips: 0, milliseconds: 0 };
    tally.milliseconds += duration;
    if (outcome !== undefined) tally[outcome]++;
    this.#files.set(file, tally);
  }

  #print() {
    const tally = this.#files.get(this.#current ?? "");
    if (tally === undefined) return;
    const { passes, failures, skips, milliseconds } = tally;
    const others = `${failures > 0 ? `, ${failures} failed` : ""}${skips > 0 ? `, ${skips} skipped` : ""}`;
    const verdict = failures > 0 ? "FAIL" : "ok  ";
    console.log(`${verdict} ${seconds(milliseconds)} s  ${nameOf(this.#current ?? "")}: ${passes} passed${others}`);
  }

  #slowest() {
    const sorted = [...this.#files].sort(([, a], [, b]) => b.milliseconds - a.milliseconds).slice(0, SLOWEST);
    const lines = sorted.map(([file, { milliseconds }]) => `${seconds(milliseconds)} s  ${nameOf(file)}`);
    return `slowest files:\n${lines.join("\n")}\n`;
  }
}

/** @param {number} milliseconds */
const seconds = (milliseconds) => (milliseconds / 1000).toFixed(1).padStart(6);

/** @param {string} file */
const nameOf = (file) => file.replace(`${process.cwd()}/`, "");

export { Reporter as "module.exports" }; // mocha loads reporters with require()

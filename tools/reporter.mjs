// Why: every runner of this repository ends with one line that people and machines read alike: `test: 12 passed, 0 failed`.
// What fails is a line as well, when it happens, so that a run which is cut short or long tells it at its end.
import Mocha from "mocha";

class Reporter extends Mocha.reporters.Spec {
  /**
   * @param {Mocha.Runner} runner
   * @param {Mocha.MochaOptions} options
   */
  constructor(runner, options) {
    super(runner, options);
    runner.on("fail", (test, { message }) => {
      console.log(`not ok: ${test.fullTitle()}: ${String(message).split("\n", 1)[0]}`);
    });
  }

  /** @override */
  epilogue() {
    super.epilogue();
    const { passes, failures } = this.stats;
    console.log(`${process.env["SUITE"] ?? "test"}: ${passes} passed, ${failures} failed`);
  }
}

export { Reporter as "module.exports" }; // mocha loads reporters with require()

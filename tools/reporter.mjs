// Why: every runner of this repository ends with one line that people and machines read alike: `test: 12 passed, 0 failed`.
import Mocha from "mocha";

class Reporter extends Mocha.reporters.Spec {
  /** @override */
  epilogue() {
    super.epilogue();
    const { passes, failures } = this.stats;
    console.log(`${process.env["SUITE"] ?? "test"}: ${passes} passed, ${failures} failed`);
  }
}

export { Reporter as "module.exports" }; // mocha loads reporters with require()

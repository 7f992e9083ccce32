// Why: a green test that leaves a rejection, a logged error or an open handle behind is not green. Mocha 12 forwards
// rejections to listeners that do not exist, which loses them, and a failing root `afterEach` stops the run. Therefore each
// test function is wrapped, and each file's outermost suite gets one last `after` hook.
import type { Suite, Test } from "mocha";
import { reportFault, showFaults, throwFaults } from "./faults.ts";
import { activeHandles, describeHandles, leftHandles, traceHandles } from "./handles.ts";

if (process.env["TRACE_HANDLES"] !== undefined) traceHandles();

const seen = new WeakSet<Promise<unknown>>(); // Mocha emits each event twice
process.on("unhandledRejection", (reason, promise) => {
  if (!seen.has(promise)) reportFault("unhandled rejection", reason);
  seen.add(promise);
});
process.on("warning", (warning) => {
  if (warning.name !== "ExperimentalWarning") reportFault("process warning", warning);
});

let known: ReadonlyMap<string, number> = new Map();

/** Waits one turn of the event loop: Node has then reported the rejections of the last turn, and mocha's timer runs. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function guardTest(test: Test): void {
  const { fn } = test;
  if (fn === undefined) return; // pending test
  if (fn.length > 0) throw new Error(`${test.fullTitle()}: make it an async function; callbacks are not guarded`);
  test.fn = async function (this: Mocha.Context) {
    let passed = false;
    try {
      await (fn as (this: Mocha.Context) => unknown).call(this);
      passed = true;
    } finally {
      await turn();
      if (passed) throwFaults();
      else showFaults(); // the test's own error says more, and the next test must not fail for it
    }
  };
}

function guardFile(suite: Suite): void {
  suite.afterAll("leaves nothing behind", async function () {
    this.timeout(5000);
    await turn();
    const left = await leftHandles(known);
    known = activeHandles();
    throwFaults();
    if (left.length > 0) throw new Error(`${suite.file} left open: ${left.join(", ")}\n${describeHandles()}`);
  });
}

/** Reports what keeps the process alive when it does not exit by itself, and exits. */
function watchEnd(): void {
  const watchdog = setTimeout(() => {
    process.stderr.write(`\nThe tests are over, yet the process does not end:\n${describeHandles()}\n`);
    process.on("exit", () => {
      process.exitCode = 1; // runs after mocha's own listener
    });
    process.exit();
  }, 1500);
  watchdog.unref();
}

export const mochaHooks: Mocha.RootHookObject = {
  async beforeAll(this: Mocha.Context) {
    await turn();
    const root = this.test?.parent;
    if (root === undefined) throw new Error("mocha gives no root suite");
    for (const level of ["error", "warn"] as const) {
      console[level] = (...args: unknown[]) => reportFault(`console.${level}`, args.map(String).join(" "));
    }
    known = activeHandles();
    for (const suite of root.suites) guardFile(suite);
    for (const test of root.tests) guardTest(test);
    for (const suite of root.suites) suite.eachTest(guardTest);
  },
  afterAll() {
    const isWorker = process.env["MOCHA_WORKER_ID"] !== undefined; // a worker waits for its next file
    if (!isWorker) watchEnd();
  },
};

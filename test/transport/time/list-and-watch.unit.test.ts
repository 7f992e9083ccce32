// The loop that keeps a cache in step with a source, with a source that the test controls.
import { setImmediate as nextTurn } from "node:timers/promises";
import { ListAndWatch, type ListerWatcher, type NextAttempt } from "@virtual-workspaces/transport";
import { expect } from "chai";
import { thrown } from "../../_support/raw.ts";
import { until } from "../../_support/until.ts";

/** Next output of a watch: a version, or an event of the stream. */
type Step = number | "gap" | "break" | "close";

/** Source of numbers with its cache: a list of applied numbers, and a log of calls. */
class Numbers implements ListerWatcher<number, number, number> {
  readonly log: string[] = [];
  readonly #steps: Step[] = [];
  #wake: () => void = () => undefined;
  at: number | undefined;
  head = 1;
  stale = false;
  /** Error of lists and watches, as long as it is set. */
  failure: Error | undefined;
  next: NextAttempt = "resume";
  endsWithStream = false;

  position(): number | undefined {
    return this.at;
  }

  async list(): Promise<number> {
    this.log.push("list");
    if (this.failure !== undefined) throw this.failure;
    return this.head;
  }

  replace(listed: number): void {
    this.at = listed;
  }

  async *watch(after: number, signal: AbortSignal): AsyncGenerator<number> {
    this.log.push(`watch ${after}`);
    if (this.failure !== undefined) throw this.failure;
    const wake = (): void => this.#wake();
    signal.addEventListener("abort", wake);
    while (!signal.aborted) {
      const step = this.#steps.shift();
      if (step === "break") throw new Error("the stream broke");
      if (step === "close") return;
      if (step !== undefined) yield step === "gap" ? -1 : step;
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
    }
  }

  apply(change: number): boolean {
    if (change < 0) return false;
    this.log.push(`apply ${change}`);
    this.at = change;
    return true;
  }

  failed(error: unknown, during: "list" | "watch"): NextAttempt {
    this.log.push(`${during} failed: ${(error as Error).message}`);
    return this.next;
  }

  async isStale(position: number): Promise<boolean> {
    return this.stale && position > this.head;
  }

  write(...steps: Step[]): void {
    this.#steps.push(...steps);
    this.#wake();
  }

  /** Resolves when these are the last calls. */
  async called(...calls: string[]): Promise<void> {
    await until(() => this.log.slice(-calls.length).join() === calls.join(), { what: () => this.log.join() });
  }
}

const SHORT = { first: 1, most: 2 } as const;
const LONG = { first: 3_600_000, most: 3_600_000 } as const;

describe("ListAndWatch", () => {
  it("lists, watches from the position of the list, and resumes from the last change", async () => {
    const source = new Numbers();
    await using loop = new ListAndWatch(source, SHORT);
    loop.start();
    source.write(2, 3);
    await source.called("list", "watch 1", "apply 2", "apply 3");
    source.write("break");
    await source.called("watch failed: the stream broke", "watch 3");
    source.write("close");
    await source.called("watch 3", "watch 3");
  });

  it("lists again after a gap, and after a failure that requests it", async () => {
    const source = new Numbers();
    await using loop = new ListAndWatch(source, SHORT);
    loop.start();
    await source.called("watch 1");
    source.head = 7;
    source.write("gap");
    await source.called("list", "watch 7");
    source.head = 9;
    source.next = "relist";
    source.write("break");
    await source.called("watch failed: the stream broke", "list", "watch 9");
  });

  it("watches without a list from an existing position, and lists a source that is behind it", async () => {
    const source = new Numbers();
    source.at = 5;
    await using loop = new ListAndWatch(source, SHORT);
    loop.start();
    await source.called("watch 5");
    source.stale = true;
    source.write("break");
    await source.called("watch failed: the stream broke", "list", "watch 1");
  });

  it("lists until the source answers", async () => {
    const source = new Numbers();
    source.failure = new Error("away");
    await using loop = new ListAndWatch(source, SHORT);
    loop.start();
    await source.called("list", "list failed: away", "list", "list failed: away");
    source.failure = undefined;
    await source.called("list", "watch 1");
  });

  it("ends with its stream, or after a failure that requests it", async () => {
    for (const step of ["close", "break"] as const) {
      const source = new Numbers();
      source.endsWithStream = true;
      source.next = "end";
      await using loop = new ListAndWatch(source, LONG);
      loop.start();
      await source.called("watch 1");
      source.write(step);
      for (let turns = 0; turns < 20; turns++) {
        loop.hurry();
        await nextTurn();
      }
      const failures = step === "break" ? ["watch failed: the stream broke"] : [];
      expect(source.log).to.deep.equal(["list", "watch 1", ...failures]);
    }
  });

  it("waits after a failure, unless the source is reported to answer", async () => {
    const source = new Numbers();
    await using loop = new ListAndWatch(source, LONG);
    loop.start();
    await source.called("watch 1");
    source.write("break");
    await source.called("watch failed: the stream broke");
    await until(() => {
      loop.hurry();
      return source.log.at(-1) === "watch 1";
    });
  });

  it("replaces its cache by a list at any time, and watches from there", async () => {
    const source = new Numbers();
    await using loop = new ListAndWatch(source, SHORT);
    loop.start();
    await source.called("watch 1");
    source.head = 8;
    await Promise.all([loop.relist(), loop.relist(), loop.relist()]);
    // The first one, a running one, and one for the calls after its start.
    expect(source.log.filter((call) => call === "list")).to.have.length(3);
    await source.called("watch 8");
    source.failure = new Error("away");
    expect(await thrown(loop.relist())).to.equal(source.failure);
    source.failure = undefined;
    source.write(9);
    await source.called("apply 9");
    loop.rewatch();
    await source.called("apply 9", "watch 9");
  });

  it("calls nothing after its end, and waits for its stream", async () => {
    const source = new Numbers();
    const loop = new ListAndWatch(source, SHORT);
    loop.start();
    await source.called("watch 1");
    source.write(2);
    await loop[Symbol.asyncDispose]();
    const calls = [...source.log];
    source.write(3);
    expect(await thrown(loop.relist())).to.have.property("name", "AbortError");
    expect(source.log.filter((call) => call !== "list")).to.deep.equal(calls.filter((call) => call !== "list"));
    expect(source.at).to.be.oneOf([1, 2]);
  });
});

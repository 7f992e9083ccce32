import { setTimeout as pause } from "node:timers/promises";
import { excerpt, expectCode } from "../conformance/expect.ts";
import { fail } from "../conformance/outcome.ts";
import type { Answer } from "../http/answer.ts";
import type { ToldSpace } from "./bodies.ts";
import { Heard } from "./heard.ts";
import type { ProviderProbe } from "./probe.ts";

/** Between two looks at a space that is to become something, ms. */
const LOOK = 200;

/** The space of a run, from its making to its end. */
export class MadeSpace implements Disposable {
  readonly name: string;
  /** As it was when it became ready. */
  readonly space: ToldSpace;
  /** What a watch has said since before it was made, if the provider has any. */
  readonly heard: Heard | undefined;
  readonly #probe: ProviderProbe;
  #deleted: Promise<number> | undefined;

  private constructor(space: ToldSpace, probe: ProviderProbe, heard: Heard | undefined) {
    this.name = space.name;
    this.space = space;
    this.heard = heard;
    this.#probe = probe;
  }

  /** Makes one, and waits until it is ready. @throws CheckFailure */
  static async make(name: string, probe: ProviderProbe): Promise<MadeSpace> {
    using opening = new DisposableStack();
    const heard = (await probe.can("watch")) ? opening.use(new Heard(await probe.watch(), probe.bodies)) : undefined;
    // Nothing is missed from then on.
    await heard?.next(probe.deadlines.prompt);
    expectCode(await probe.put(name, "{}"), [202]);
    const space = await untilReady(name, probe);
    opening.move();
    return new MadeSpace(space, probe, heard);
  }

  /** Deletes it, once, and waits until it is gone. @returns how much a watch had said before @throws CheckFailure */
  delete(): Promise<number> {
    this.#deleted ??= this.#delete();
    return this.#deleted;
  }

  [Symbol.dispose](): void {
    this.heard?.[Symbol.dispose]();
  }

  async #delete(): Promise<number> {
    // What it has said until now is about something else.
    while ((await this.heard?.next(0)) === true);
    const since = this.heard?.length ?? 0;
    expectCode(await this.#probe.space(this.name, { method: "DELETE", repeatable: true }), [202]);
    await untilGone(this.name, this.#probe);
    return since;
  }
}

async function untilReady(name: string, probe: ProviderProbe): Promise<ToldSpace> {
  const answer = await until(name, probe, (told) => {
    // It may take a while until it is seen.
    if (told.status === 404) return false;
    return probe.bodies.ok("Space", told)["phase"] === "Ready";
  });
  return JSON.parse(answer.body.toString("utf8")) as ToldSpace;
}

/** Waits until a space is not there any more. @throws CheckFailure */
export async function untilGone(name: string, probe: ProviderProbe): Promise<void> {
  await until(name, probe, ({ status }) => status === 404);
}

async function until(name: string, probe: ProviderProbe, is: (answer: Answer) => boolean): Promise<Answer> {
  const { ready } = probe.deadlines;
  for (const began = performance.now(); ; await pause(LOOK)) {
    const answer = await probe.space(name);
    if (is(answer)) return answer;
    if (performance.now() - began > ready)
      fail(answer.request, `it to be otherwise within ${ready / 1000} s`, excerpt(answer));
  }
}

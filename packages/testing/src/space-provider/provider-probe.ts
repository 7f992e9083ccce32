import { setTimeout as pause } from "node:timers/promises";
import { CheckFailure, CheckSkipped, excerpt, expectCode, fail, skip } from "../assertions/expect.ts";
import { at, type JsonObject, listAt } from "../assertions/json.ts";
import type { CheckInfo } from "../assertions/perform.ts";
import type { Answer } from "../http/answer.ts";
import type { CallOptions, HttpClient } from "../http/client.ts";
import type { WatchStream } from "../http/watch-stream.ts";
import type { SpaceProviderDeadlines } from "./provider-options.ts";
import type { Bodies, ListedSpace } from "./space-bodies.ts";
import { SpaceWatch } from "./space-watch.ts";

const SPACES = "/v1/spaces";
/** A name that nobody has given to a space. */
export const ABSENT = "conformance-no-such-space";
const HIDDEN = Buffer.from("what may be a kubeconfig, which is not shown");
/** Between two looks at a space that is to become something, ms. */
const LOOK = 200;

/** What a provider may be able to do. */
export type Capability = "create" | "delete" | "watch" | "hierarchy";

/** A check of a space provider. */
export interface ProviderCheck extends CheckInfo {
  /** Makes and deletes a space: run only where that is allowed, one after the other. @default false */
  readonly writes?: boolean;
  /** @throws CheckFailure, CheckSkipped */
  run(probe: ProviderProbe): Promise<void>;
}

/** What all checks of a provider have. */
export interface ProviderProbeOptions {
  readonly client: HttpClient;
  readonly bodies: Bodies;
  readonly paths: readonly string[];
  readonly deadlines: SpaceProviderDeadlines;
  readonly parent: string | undefined;
  /** Whether the run says who it is. */
  readonly identified: boolean;
  /** The name of the space that may be made. @default none may */
  readonly makes: string | undefined;
}

/** An answer whose body is in no report. */
export interface KubeconfigAnswer extends Answer {
  /** Secret. */
  readonly text: string;
}

/** A provider that is looked at. */
export class ProviderProbe {
  readonly bodies: Bodies;
  readonly deadlines: SpaceProviderDeadlines;
  readonly paths: readonly string[];
  readonly identified: boolean;
  readonly parent: string | undefined;
  readonly #client: HttpClient;
  /** The name of the space that the run may make, if it may. */
  readonly makes: string | undefined;
  #begun = false;
  #made: Promise<MadeSpace> | undefined;
  #status: Promise<JsonObject> | undefined;

  constructor({ client, bodies, paths, deadlines, parent, identified, makes }: ProviderProbeOptions) {
    this.#client = client;
    this.bodies = bodies;
    this.paths = paths;
    this.deadlines = deadlines;
    this.identified = identified;
    this.parent = parent;
    this.makes = makes;
  }

  call(path: string, options: CallOptions = {}): Promise<Answer> {
    const isBelow = path.startsWith(SPACES) && this.parent !== undefined;
    const query = isBelow ? { ...options.query, parent: options.query?.["parent"] ?? this.parent } : options.query;
    return this.#client.call(path, { ...options, ...(query && { query }) });
  }

  space(name: string, options: CallOptions = {}): Promise<Answer> {
    return this.call(`${SPACES}/${name}`, options);
  }

  /** How a space is reached: what is told of the answer, in a report, has nothing of it. */
  async kubeconfig(name: string, options: CallOptions = {}): Promise<KubeconfigAnswer> {
    const answer = await this.call(`${SPACES}/${name}/kubeconfig`, options);
    if (answer.status >= 300) return { ...answer, text: "" };
    return { ...answer, body: HIDDEN, text: answer.body.toString("utf8") };
  }

  /** Asks for a space of this name. */
  put(name: string, body: string, type = "application/json"): Promise<Answer> {
    this.#begun ||= name === this.makes;
    return this.space(name, { method: "PUT", body, headers: { "content-type": type }, repeatable: true });
  }

  /** What the provider says of itself. @throws CheckFailure */
  status(): Promise<JsonObject> {
    this.#status ??= this.call("/v1/status").then((answer) => this.bodies.ok("ProviderStatus", answer));
    return this.#status;
  }

  /** @throws CheckSkipped where it does not say */
  async can(capability: Capability): Promise<boolean> {
    const status = await this.status().catch(skipping("its status cannot be read: P1.1 says why"));
    return at(status, "capabilities", capability) === true;
  }

  /** @throws CheckFailure */
  async list(query: CallOptions["query"] = {}): Promise<{
    readonly answer: Answer;
    readonly spaces: readonly ListedSpace[];
    readonly more: string | undefined;
  }> {
    const answer = await this.call(SPACES, { query });
    const list = this.bodies.ok("SpaceList", answer);
    const more = list["continue"];
    const spaces = listAt(list, "items") as readonly ListedSpace[];
    return { answer, spaces, more: typeof more === "string" ? more : undefined };
  }

  /** @throws CheckFailure when there is none */
  async watch(): Promise<WatchStream> {
    const stream = await this.#client.watch(SPACES, { query: { watch: 1, parent: this.parent } });
    if (!("status" in stream)) return stream;
    return fail(stream.request, "200 and a stream", String(stream.status));
  }

  /** The spaces that are there. @throws CheckSkipped where they are not told */
  async spaces(): Promise<readonly ListedSpace[]> {
    return (await this.list().catch(skipping("spaces cannot be listed: P2.1 says why"))).spaces;
  }

  /** What a watch is answered with, if it is not one; of one that is, its head alone. */
  async watchHead(options: CallOptions = {}): Promise<Answer> {
    const opened = await this.#client.watch(SPACES, {
      ...options,
      query: { parent: this.parent, watch: 1, ...options.query },
    });
    if ("status" in opened) return opened;
    using stream = opened;
    return { request: stream.request, headers: stream.headers, status: 200, body: Buffer.alloc(0) };
  }

  /** A space that is ready: one that is there, or that is made. @throws CheckSkipped where there is none */
  async ready(): Promise<ListedSpace> {
    const found = (await this.spaces()).find(({ phase }) => phase === "Ready");
    if (found !== undefined) return found;
    if (this.makes === undefined) return skip("there is no space that is ready, and the run only reads");
    return (await this.made()).space;
  }

  /** Makes the space of the run, once. @throws CheckFailure, CheckSkipped where none may be made */
  make(): Promise<MadeSpace> {
    this.#made ??= this.#make();
    return this.#made;
  }

  /** The space that the run has made, once it is ready. @throws CheckSkipped where there is none */
  made(): Promise<MadeSpace> {
    return this.make().catch(skipping("there is no space to look at: P7.1 says why"));
  }

  /** The space of the run, once it is gone again, and how much a watch had said before. @throws CheckSkipped where it is not */
  async gone(): Promise<{ readonly made: MadeSpace; readonly since: number }> {
    const made = await this.made();
    return { made, since: await made.delete().catch(skipping("the space is not gone: P7.5 says why")) };
  }

  /** The name of the space that the run has asked for, if it has. */
  get begun(): string | undefined {
    return this.#begun ? this.makes : undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    (await this.#made?.catch(() => undefined))?.[Symbol.dispose]();
  }

  async #make(): Promise<MadeSpace> {
    if (this.makes === undefined) return skip("it makes a space, and the run only reads");
    for (const capability of ["create", "delete"] as const)
      if (!(await this.can(capability))) return skip(`the provider says that it cannot ${capability} spaces`);
    return MadeSpace.make(this.makes, this);
  }
}

/** What another check tells of is not told twice. */
const skipping =
  (reason: string) =>
  (error: unknown): never => {
    throw error instanceof CheckFailure ? new CheckSkipped(reason) : error;
  };

/** The space of a run, from its making to its end. */
class MadeSpace implements Disposable {
  readonly name: string;
  /** As it was when it became ready. */
  readonly space: ListedSpace;
  /** What a watch has said since before it was made, if the provider has any. */
  readonly heard: SpaceWatch | undefined;
  readonly #probe: ProviderProbe;
  #deleted: Promise<number> | undefined;

  private constructor(space: ListedSpace, probe: ProviderProbe, heard: SpaceWatch | undefined) {
    this.name = space.name;
    this.space = space;
    this.heard = heard;
    this.#probe = probe;
  }

  /** Makes one, and waits until it is ready. @throws CheckFailure */
  static async make(name: string, probe: ProviderProbe): Promise<MadeSpace> {
    using opening = new DisposableStack();
    const heard = (await probe.can("watch"))
      ? opening.use(new SpaceWatch(await probe.watch(), probe.bodies))
      : undefined;
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

async function untilReady(name: string, probe: ProviderProbe): Promise<ListedSpace> {
  const answer = await until(name, probe, (told) => {
    // It may take a while until it is seen.
    if (told.status === 404) return false;
    return probe.bodies.ok("Space", told)["phase"] === "Ready";
  });
  return JSON.parse(answer.body.toString("utf8")) as ListedSpace;
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

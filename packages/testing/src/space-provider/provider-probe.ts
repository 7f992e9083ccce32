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
/** Name that no space has. */
export const ABSENT = "conformance-no-such-space";
const HIDDEN = Buffer.from("possibly a kubeconfig, not shown");
/** Interval between polls of a space, in ms. */
const LOOK = 200;

/** Optional capability of a provider. */
export type Capability = "create" | "delete" | "watch" | "hierarchy";

/** Check of a space provider. */
export interface ProviderCheck extends CheckInfo {
  /**
   * Whether the check creates and deletes a space. Such checks run only when writes are allowed, one after the other.
   * @default false
   */
  readonly writes?: boolean;
  /** @throws CheckFailure, CheckSkipped */
  run(probe: ProviderProbe): Promise<void>;
}

/** Values that all checks of a provider share. */
export interface ProviderProbeOptions {
  readonly client: HttpClient;
  readonly bodies: Bodies;
  readonly paths: readonly string[];
  readonly deadlines: SpaceProviderDeadlines;
  readonly parent: string | undefined;
  /** Whether the run has credentials. */
  readonly identified: boolean;
  /** Name of the space that the run may create. @default the run may not create one */
  readonly makes: string | undefined;
}

/** Answer whose body must not appear in a report. */
export interface KubeconfigAnswer extends Answer {
  /** Secret body. */
  readonly text: string;
}

/** Sends the requests of checks to a provider. */
export class ProviderProbe {
  readonly bodies: Bodies;
  readonly deadlines: SpaceProviderDeadlines;
  readonly paths: readonly string[];
  readonly identified: boolean;
  readonly parent: string | undefined;
  readonly #client: HttpClient;
  /** Name of the space that the run may create, if any. */
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

  /** Requests the kubeconfig of a space. Security: reports of the answer contain nothing of its body. */
  async kubeconfig(name: string, options: CallOptions = {}): Promise<KubeconfigAnswer> {
    const answer = await this.call(`${SPACES}/${name}/kubeconfig`, options);
    if (answer.status >= 300) return { ...answer, text: "" };
    return { ...answer, body: HIDDEN, text: answer.body.toString("utf8") };
  }

  /** Creates a space with this name. */
  put(name: string, body: string, type = "application/json"): Promise<Answer> {
    this.#begun ||= name === this.makes;
    return this.space(name, { method: "PUT", body, headers: { "content-type": type }, repeatable: true });
  }

  /** Returns the status of the provider. @throws CheckFailure */
  status(): Promise<JsonObject> {
    this.#status ??= this.call("/v1/status").then((answer) => this.bodies.ok("ProviderStatus", answer));
    return this.#status;
  }

  /** @throws CheckSkipped when the status cannot be read */
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

  /** @throws CheckFailure when the provider opens no watch */
  async watch(): Promise<WatchStream> {
    const stream = await this.#client.watch(SPACES, { query: { watch: 1, parent: this.parent } });
    if (!("status" in stream)) return stream;
    return fail(stream.request, "200 and a stream", String(stream.status));
  }

  /** Returns the existing spaces. @throws CheckSkipped when they cannot be listed */
  async spaces(): Promise<readonly ListedSpace[]> {
    return (await this.list().catch(skipping("spaces cannot be listed: P2.1 says why"))).spaces;
  }

  /** Returns the answer to a watch request. For an open watch it has only status and headers. */
  async watchHead(options: CallOptions = {}): Promise<Answer> {
    const opened = await this.#client.watch(SPACES, {
      ...options,
      query: { parent: this.parent, watch: 1, ...options.query },
    });
    if ("status" in opened) return opened;
    using stream = opened;
    return { request: stream.request, headers: stream.headers, status: 200, body: Buffer.alloc(0) };
  }

  /** Returns a ready space, either an existing or a new one. @throws CheckSkipped when there is none */
  async ready(): Promise<ListedSpace> {
    const found = (await this.spaces()).find(({ phase }) => phase === "Ready");
    if (found !== undefined) return found;
    if (this.makes === undefined) return skip("no space is ready, and the run only reads");
    return (await this.made()).space;
  }

  /** Creates the space of the run, once. @throws CheckFailure, CheckSkipped when the run may not create one */
  make(): Promise<MadeSpace> {
    this.#made ??= this.#make();
    return this.#made;
  }

  /** Returns the space that the run created, once it is ready. @throws CheckSkipped when there is none */
  made(): Promise<MadeSpace> {
    return this.make().catch(skipping("there is no space to check: P7.1 says why"));
  }

  /**
   * Returns the space of the run after its deletion, and the number of watch lines before it.
   * @throws CheckSkipped when it still exists
   */
  async gone(): Promise<{ readonly made: MadeSpace; readonly since: number }> {
    const made = await this.made();
    return { made, since: await made.delete().catch(skipping("the space is not gone: P7.5 says why")) };
  }

  /** Name of the space that the run has requested, if any. */
  get begun(): string | undefined {
    return this.#begun ? this.makes : undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    (await this.#made?.catch(() => undefined))?.[Symbol.dispose]();
  }

  async #make(): Promise<MadeSpace> {
    if (this.makes === undefined) return skip("it creates a space, and the run only reads");
    for (const capability of ["create", "delete"] as const)
      if (!(await this.can(capability))) return skip(`the provider says that it cannot ${capability} spaces`);
    return MadeSpace.make(this.makes, this);
  }
}

/** Turns a failure into a skip, because another check reports the failure. */
const skipping =
  (reason: string) =>
  (error: unknown): never => {
    throw error instanceof CheckFailure ? new CheckSkipped(reason) : error;
  };

/** Space of a run, from its creation to its deletion. */
class MadeSpace implements Disposable {
  readonly name: string;
  /** Space as it was when it became ready. */
  readonly space: ListedSpace;
  /** Lines of a watch that began before the creation, if the provider supports watches. */
  readonly heard: SpaceWatch | undefined;
  readonly #probe: ProviderProbe;
  #deleted: Promise<number> | undefined;

  private constructor(space: ListedSpace, probe: ProviderProbe, heard: SpaceWatch | undefined) {
    this.name = space.name;
    this.space = space;
    this.heard = heard;
    this.#probe = probe;
  }

  /** Creates a space, and waits until it is ready. @throws CheckFailure */
  static async make(name: string, probe: ProviderProbe): Promise<MadeSpace> {
    using opening = new DisposableStack();
    const heard = (await probe.can("watch"))
      ? opening.use(new SpaceWatch(await probe.watch(), probe.bodies))
      : undefined;
    // From here on no event is missed.
    await heard?.next(probe.deadlines.prompt);
    expectCode(await probe.put(name, "{}"), [202]);
    const space = await untilReady(name, probe);
    opening.move();
    return new MadeSpace(space, probe, heard);
  }

  /**
   * Deletes the space, once, and waits until it is gone.
   * @returns the number of watch lines before the deletion
   * @throws CheckFailure
   */
  delete(): Promise<number> {
    this.#deleted ??= this.#delete();
    return this.#deleted;
  }

  [Symbol.dispose](): void {
    this.heard?.[Symbol.dispose]();
  }

  async #delete(): Promise<number> {
    // Earlier lines are about other changes.
    while ((await this.heard?.next(0)) === true);
    const since = this.heard?.length ?? 0;
    expectCode(await this.#probe.space(this.name, { method: "DELETE", repeatable: true }), [202]);
    await untilGone(this.name, this.#probe);
    return since;
  }
}

async function untilReady(name: string, probe: ProviderProbe): Promise<ListedSpace> {
  const answer = await until(name, probe, (told) => {
    // The space may appear with a delay.
    if (told.status === 404) return false;
    return probe.bodies.ok("Space", told)["phase"] === "Ready";
  });
  return JSON.parse(answer.body.toString("utf8")) as ListedSpace;
}

/** Waits until a space no longer exists. @throws CheckFailure */
export async function untilGone(name: string, probe: ProviderProbe): Promise<void> {
  await until(name, probe, ({ status }) => status === 404);
}

async function until(name: string, probe: ProviderProbe, is: (answer: Answer) => boolean): Promise<Answer> {
  const { ready } = probe.deadlines;
  for (const began = performance.now(); ; await pause(LOOK)) {
    const answer = await probe.space(name);
    if (is(answer)) return answer;
    if (performance.now() - began > ready) fail(answer.request, `a change within ${ready / 1000} s`, excerpt(answer));
  }
}

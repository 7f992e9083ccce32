import { Pace } from "@virtual-workspaces/transport";
import type { Space } from "../kinds/space.ts";
import { Engagement, type ReachOptions, type UsableAccess } from "./engaged-space.ts";
import { AccessInformer, type AccessInformerOptions, type SpaceState } from "./space-access.ts";
import type { SpaceName } from "./space-name.ts";

/** Consumer that runs for each usable Space. */
export interface SpaceEngager extends AsyncDisposable {
  /** Called when a Space becomes usable or has another server. The previous connections may be closed once this resolves. */
  engage(space: Engagement): Promise<void>;
  /** Called when a Space was deleted, or is no longer visible. Its connections are closed once this resolves. */
  disengage(space: Engagement, how: "deleted" | "gone"): Promise<void>;
  /** Called after each change of a Space, usable or not. @default changes are ignored */
  changed?(name: SpaceName): void;
}

/** Options of {@link Engagements}. */
export interface EngagementsOptions extends Omit<AccessInformerOptions, "onChange" | "onFailure">, ReachOptions {
  readonly onError: (failure: { readonly error: unknown; readonly space?: SpaceName }) => void;
}

/** Usable Spaces with their connections, updated by watches of the Spaces and their Secrets. */
export class Engagements implements AsyncDisposable {
  /** Resolves when the Spaces and their Secrets have been read and handled. */
  readonly synced: Promise<void>;
  readonly #options: EngagementsOptions;
  readonly #access: AccessInformer;
  readonly #engaged = new Map<SpaceName, Engagement>();
  /** Reason why a Space is not connected although it is ready, by name. */
  readonly #rejected = new Map<SpaceName, string>();
  readonly #engagers = new Set<SpaceEngager>();
  readonly #watchers = new Set<() => void>();
  readonly #ending = new Set<Promise<void>>();
  readonly #queue = new SpaceQueue((name) => this.#update(name));
  #closed: Promise<void> | undefined;

  constructor(options: EngagementsOptions) {
    this.#options = options;
    this.#access = new AccessInformer({
      ...options,
      onChange: (name) => this.#queue.add(name),
      onFailure: (error) => options.onError({ error }),
    });
    this.synced = this.#access.start().then(() => this.#queue.done);
  }

  get isClosed(): boolean {
    return this.#closed !== undefined;
  }

  /** Names of all Spaces. */
  get names(): SpaceName[] {
    return this.#access.names;
  }

  /** All connected Spaces, including those that are not Ready at the moment. */
  get all(): readonly Engagement[] {
    this.#queue.handleAll();
    return [...this.#engaged.values()];
  }

  get(name: SpaceName): Engagement | undefined {
    return this.#engaged.get(name);
  }

  /** Returns the Space object. */
  space(name: SpaceName): Space | undefined {
    return this.#access.space(name);
  }

  isThere(name: SpaceName): boolean {
    return this.#access.of(name) !== undefined;
  }

  /** Returns the state of a Space; `undefined` if it does not exist. */
  stateOf(name: SpaceName): SpaceState | undefined {
    this.#queue.handleNow(name);
    const access = this.#access.of(name);
    if (access === undefined) return undefined;
    if (!access.usable) return { name, ready: false, reason: access.reason, message: access.message };
    const refused = this.#rejected.get(name);
    if (refused !== undefined) return { name, ready: false, reason: "Refused", message: refused };
    return { name, ready: true, reason: "Ready", message: "" };
  }

  /** Calls a consumer for each current and future Space, until it is disposed of. */
  engage(engager: SpaceEngager): Disposable {
    this.#engagers.add(engager);
    for (const space of this.#engaged.values()) void engager.engage(space);
    if (this.isClosed) void engager[Symbol.asyncDispose]();
    return { [Symbol.dispose]: () => void this.#engagers.delete(engager) };
  }

  /** Calls a listener after each change of a Space, until it is disposed of. */
  onChange(look: () => void): Disposable {
    const watcher = (): void => look();
    this.#watchers.add(watcher);
    return { [Symbol.dispose]: () => void this.#watchers.delete(watcher) };
  }

  /** Errors of a Space that is not Ready are expected and are not reported. */
  failed(space: SpaceName, error: unknown): void {
    if (this.stateOf(space)?.ready === true) this.#options.onError({ space, error });
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  #update(name: SpaceName): void {
    if (this.isClosed) return;
    const access = this.#access.of(name);
    const before = this.#engaged.get(name);
    this.#rejected.delete(name);
    if (access === undefined) {
      if (before !== undefined) this.#disengage(before);
    } else if (access.usable) this.#use(access, before);
    // Otherwise its work continues: a Space that is not Ready still exists.
    for (const engager of [...this.#engagers]) engager.changed?.(name);
    for (const look of [...this.#watchers]) look();
  }

  #use(access: UsableAccess, before: Engagement | undefined): void {
    const isSame = before?.id === access.id;
    if (isSame && before.digests.server === access.digests.server) {
      if (before.space !== access.space || before.digests.config !== access.digests.config)
        this.#engaged.set(before.name, before.renewed(access));
      return;
    }
    const next = this.#connect(access);
    if (before !== undefined && !isSame) this.#disengage(before);
    if (next === undefined) return;
    this.#engaged.set(next.name, next);
    const over = Promise.all([...this.#engagers].map((engager) => engager.engage(next)));
    if (isSame) this.#disposeAfter(over, before);
  }

  #connect(access: UsableAccess): Engagement | undefined {
    try {
      return new Engagement(access, this.#options);
    } catch (error) {
      const { namespace = "", name = "" } = access.space.metadata;
      const space = `${namespace}/${name}`;
      this.#rejected.set(space, error instanceof Error ? error.message : String(error));
      this.#options.onError({ space, error });
      return undefined;
    }
  }

  /** Reports `deleted` only for managed Spaces, whose contents are deleted with them. */
  #disengage(space: Engagement): void {
    this.#engaged.delete(space.name);
    const how = isManaged(space.space) ? "deleted" : "gone";
    this.#disposeAfter(Promise.all([...this.#engagers].map((engager) => engager.disengage(space, how))), space);
  }

  #disposeAfter(used: Promise<unknown>, space: Engagement): void {
    const ending = used.then(() => space[Symbol.asyncDispose]()).finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }

  async #close(): Promise<void> {
    await Promise.all([...this.#engagers].map((engager) => engager[Symbol.asyncDispose]()));
    for (const look of [...this.#watchers]) look();
    await this.#access[Symbol.asyncDispose]();
    await Promise.all(this.#ending);
    await Promise.all([...this.#engaged.values()].map((space) => space[Symbol.asyncDispose]()));
  }
}

const isManaged = ({ spec }: Space): boolean => (spec.Type ?? "managed") === "managed";

/**
 * Queue of changed Spaces. After many changes, some are handled later, since hundreds of new connections would block the process. A Space
 * that a caller asks for is handled at once.
 */
class SpaceQueue {
  readonly #look: (name: SpaceName) => void;
  readonly #waiting = new Set<SpaceName>();
  readonly #pace = new Pace();
  #isLooking = false;
  #done = Promise.resolve();

  constructor(look: (name: SpaceName) => void) {
    this.#look = look;
  }

  /** Resolves when all queued Spaces have been handled. */
  get done(): Promise<void> {
    return this.#done;
  }

  add(name: SpaceName): void {
    this.#waiting.add(name);
    if (!this.#isLooking) this.#done = this.#lookAtAll();
  }

  /** Handles a Space now if it is queued. */
  handleNow(name: SpaceName): void {
    if (this.#waiting.delete(name)) this.#look(name);
  }

  /** Handles all queued Spaces now. */
  handleAll(): void {
    for (const name of this.#waiting) this.handleNow(name);
  }

  async #lookAtAll(): Promise<void> {
    this.#isLooking = true;
    try {
      for (const name of this.#waiting) {
        const rest = this.#pace.isOver ? this.#pace.rest() : undefined;
        if (rest !== undefined) await rest;
        this.handleNow(name);
      }
    } finally {
      this.#isLooking = false;
    }
  }
}

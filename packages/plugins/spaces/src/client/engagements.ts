import { Pace } from "@virtual-workspaces/transport";
import type { Space } from "../kinds/space.ts";
import { Engagement, type ReachOptions, type UsableAccess } from "./engaged-space.ts";
import { AccessInformer, type AccessInformerOptions, type SpaceState } from "./space-access.ts";
import type { SpaceName } from "./space-name.ts";

/** What runs for each Space that can be used. */
export interface SpaceEngager extends AsyncDisposable {
  /** One can be used; or is reached elsewhere now, and how it was reached before is of no more use once this resolves. */
  engage(space: Engagement): Promise<void>;
  /** It is no more: deleted, or only not to be seen any more. Its connections are closed once this resolves. */
  disengage(space: Engagement, how: "deleted" | "gone"): Promise<void>;
  /** Something of a Space has changed, whether or not it can be used. @default that is of no interest */
  changed?(name: SpaceName): void;
}

/** Whose Spaces, and how they are reached. */
export interface EngagementsOptions extends Omit<AccessInformerOptions, "onChange" | "onFailure">, ReachOptions {
  readonly onError: (failure: { readonly error: unknown; readonly space?: SpaceName }) => void;
}

/** The Spaces that can be used, with their connections; engaged and disengaged as their objects and Secrets say. */
export class Engagements implements AsyncDisposable {
  /** Resolves when the Spaces and their Secrets have been read, and looked at. */
  readonly synced: Promise<void>;
  readonly #options: EngagementsOptions;
  readonly #access: AccessInformer;
  readonly #engaged = new Map<SpaceName, Engagement>();
  /** Why what can be used is not, by name. */
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

  /** Of all Spaces that there are. */
  get names(): SpaceName[] {
    return this.#access.names;
  }

  /** What is connected, whether or not it is Ready now. */
  get all(): readonly Engagement[] {
    this.#queue.handleAll();
    return [...this.#engaged.values()];
  }

  get(name: SpaceName): Engagement | undefined {
    return this.#engaged.get(name);
  }

  /** Its object. */
  space(name: SpaceName): Space | undefined {
    return this.#access.space(name);
  }

  isThere(name: SpaceName): boolean {
    return this.#access.of(name) !== undefined;
  }

  /** How one is; `undefined`: there is none. */
  stateOf(name: SpaceName): SpaceState | undefined {
    this.#queue.handleNow(name);
    const access = this.#access.of(name);
    if (access === undefined) return undefined;
    if (!access.usable) return { name, ready: false, reason: access.reason, message: access.message };
    const refused = this.#rejected.get(name);
    if (refused !== undefined) return { name, ready: false, reason: "Refused", message: refused };
    return { name, ready: true, reason: "Ready", message: "" };
  }

  /** Runs for each Space, those that are there first, until it is disposed of. */
  engage(engager: SpaceEngager): Disposable {
    this.#engagers.add(engager);
    for (const space of this.#engaged.values()) void engager.engage(space);
    if (this.isClosed) void engager[Symbol.asyncDispose]();
    return { [Symbol.dispose]: () => void this.#engagers.delete(engager) };
  }

  /** Calls back after each change of a Space, until it is disposed of. */
  onChange(look: () => void): Disposable {
    const watcher = (): void => look();
    this.#watchers.add(watcher);
    return { [Symbol.dispose]: () => void this.#watchers.delete(watcher) };
  }

  /** Of one that says itself that it is not Ready there is nothing to tell. */
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
    // Else: what runs in it goes on. That it is not Ready does not mean that it is not there.
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

  /** What was in a managed Space is deleted with it; of others nobody knows. */
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
 * Spaces of which something has changed. Each is looked at, at once; of many some a little later, since what it takes to reach hundreds would hold up
 * everything else. Who asks about one does not wait.
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

  /** Resolves when all those that have been added have been looked at. */
  get done(): Promise<void> {
    return this.#done;
  }

  add(name: SpaceName): void {
    this.#waiting.add(name);
    if (!this.#isLooking) this.#done = this.#lookAtAll();
  }

  /** Looks at one now, if it waits. */
  handleNow(name: SpaceName): void {
    if (this.#waiting.delete(name)) this.#look(name);
  }

  /** Looks at all that wait now. */
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

import { isDeepStrictEqual } from "node:util";
import type { ObjectKey } from "@virtual-workspaces/apimachinery";
import { type Controller, controller, type ReconcileFailure, type ReconcileResult } from "@virtual-workspaces/client";
import type { Log } from "@virtual-workspaces/framework/server";
import {
  API_BINDINGS_INITIALIZER,
  clusterOf,
  LogicalCluster,
  type LogicalCluster as LogicalClusterObject,
  ROOT_CLUSTER,
  TypeFault,
  type TypesOf,
} from "@virtual-workspaces/kcp";
import { WORKSPACE_TYPE_ANNOTATION } from "@virtual-workspaces/kcp/names";
import type { IsAllowed } from "../../authz/access.ts";
import type { Known } from "../../controllers/shard-controllers.ts";
import { filterUpdates, follow } from "../../controllers/sources.ts";
import type { OwnServices } from "../../loopback/own-services.ts";
import type { ShardController } from "../../state/context.ts";
import { modify } from "../../state/modify.ts";
import type { ShardObjects } from "../../state/objects.ts";
import type { ShardPeer } from "../../state/shard-peer.ts";
import { logicalClusterKey, type ShardState } from "../../state/shard-state.ts";
import { OWNER_BINDING } from "../../workspaces/model/owner.ts";
import { UNIVERSAL_BINDINGS, UNIVERSAL_INITIALIZER } from "../../workspaces/model/workspace-types.ts";
import type { Exports } from "../exports/exports.ts";
import type { BoundByDefault, DefaultExport } from "./default-bindings.ts";
import { initialize, maintain } from "./initialize.ts";
import { CreatorSetup, OwnSetup, type Setup } from "./setup.ts";
import { ViewSetup } from "./view-setup.ts";

/** Options of {@link DefaultBindings}. */
export interface DefaultBindingsOptions {
  readonly objects: ShardObjects;
  readonly state: ShardState;
  readonly exports: Exports;
  readonly known: Known;
  readonly typesOf: TypesOf;
  readonly bound: BoundByDefault;
  readonly mayAccess: IsAllowed;
  /** Views of the shard's listener, possibly including the view of initializing workspaces. */
  readonly services: OwnServices | undefined;
  readonly log: Log;
  /** Returns the external URL of the shard. */
  readonly externalURL: () => string;
  readonly now: () => Date;
  readonly onError: (failure: ReconcileFailure) => void;
}

/**
 * Creates the bindings that workspaces get by their type. During initialization, it creates them as the workspace's
 * creator, who needs permission to bind each export, by requests if kcp's view of initializing workspaces runs. If the
 * type says `Maintain`, it later corrects them as the server. An invalid type or export is reported in the
 * LogicalCluster, which waits until they are valid.
 */
export class DefaultBindings implements ShardController {
  readonly started: Promise<void>;
  readonly #options: DefaultBindingsOptions;
  readonly #controller: Controller<LogicalClusterObject>;
  readonly #maintained = new Set<string>();
  /** Logical clusters that waited at their last pass; few of all. */
  readonly #held = new Set<string>();
  /** Logical clusters whose types may be on a shard that does not run. */
  readonly #unknown = new Set<string>();
  #later: Promise<void> | undefined;
  /** Created on first use: only a running shard knows its views. */
  #setup: Setup | undefined;
  readonly #stack = new AsyncDisposableStack();

  constructor(options: DefaultBindingsOptions) {
    const { state, onError } = options;
    this.#options = options;
    // Locks and labels do not matter to those that wait. One that has just been initialized is no longer held.
    const needsPass = (there: LogicalClusterObject, before: LogicalClusterObject): boolean =>
      isOlder(there, options.exports) ||
      ((this.#held.has(clusterOf(there)) || this.#waits(there)) && !isDeepStrictEqual(there.status, before.status));
    this.#controller = controller<LogicalClusterObject>({
      name: "default-apibindings",
      sources: [{ informer: filterUpdates(state.logicalClusters, needsPass, (there) => this.#waits(there)) }],
      reconcile: options.known(state.logicalClusters, (key, { object }) => this.#reconcile(key, object)),
      onError,
      workers: 4,
    });
    this.started = this.#controller.started;
    this.#stack.use(
      follow(
        state.apiBindings,
        ({ metadata, status }, { cluster }) => {
          // A new binding of our own: its first conditions follow.
          if (status?.conditions === undefined && metadata.deletionTimestamp === undefined) return;
          const there = state.logicalCluster(cluster);
          if (there !== undefined && this.#waits(there)) this.#controller.add(logicalClusterKey(cluster));
        },
        ({ metadata, status }) => [metadata.uid, status?.conditions],
      ),
    );
    this.#stack.use(
      follow(state.rbac.clusterRoleBindings, (_, { cluster, name }) => {
        if (name === OWNER_BINDING && this.#held.has(cluster)) this.#controller.add(logicalClusterKey(cluster));
      }),
    );
  }

  /** Watches the types and exports of any shard. @returns stops watching */
  follow({ state }: ShardPeer): Disposable {
    const stack = new DisposableStack();
    const changed = (): void => this.#changed();
    stack.use(
      state.workspaceTypes.on({
        added: () => this.#waiting(),
        updated: ({ spec }, before) => {
          if (JSON.stringify(spec) !== JSON.stringify(before.spec)) changed();
        },
      }),
    );
    stack.use(
      state.apiExports.on({
        added: () => this.#waiting(),
        updated: ({ spec }, before) => {
          if (JSON.stringify(spec) !== JSON.stringify(before.spec)) changed();
        },
      }),
    );
    return stack;
  }

  /** Retries logical clusters with unknown types, after a shard was added or removed. */
  shardsChanged(): void {
    this.#waiting();
    const unknown = [...this.#unknown];
    this.#unknown.clear();
    for (const cluster of unknown) {
      this.#maintained.add(cluster);
      this.#controller.add(logicalClusterKey(cluster));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
    await this.#controller.stop();
  }

  /** Retries logical clusters that are being initialized. */
  #waiting(): void {
    for (const cluster of this.#held) this.#controller.add(logicalClusterKey(cluster));
  }

  /** Reconciles all typed logical clusters after a type or an export has changed, once all are loaded. */
  #changed(): void {
    const { objects } = this.#options;
    if (!objects.isWhole) {
      this.#later ??= objects.whole.then(() => {
        this.#later = undefined;
        if (!this.#stack.disposed) this.#changed();
      });
      return;
    }
    for (const each of this.#options.state.logicalClusters.store.list()) {
      if (each.metadata.annotations?.[WORKSPACE_TYPE_ANNOTATION] === undefined) continue;
      const cluster = clusterOf(each);
      this.#maintained.add(cluster);
      this.#controller.add(logicalClusterKey(cluster));
    }
  }

  #waits(there: LogicalClusterObject): boolean {
    const { phase, initializers = [] } = there.status ?? {};
    return (
      (phase === "Initializing" && initializers.includes(API_BINDINGS_INITIALIZER)) ||
      isOlder(there, this.#options.exports)
    );
  }

  async #reconcile(key: ObjectKey, there: LogicalClusterObject | undefined): Promise<ReconcileResult> {
    const maintained = this.#maintained.delete(key.cluster);
    this.#held.delete(key.cluster);
    if (there === undefined || there.metadata.deletionTimestamp !== undefined) return {};
    const waits = this.#waits(there);
    if (waits) this.#held.add(key.cluster);
    if (isOlder(there, this.#options.exports)) await catchUp(this.#options, key, there);
    else if (waits) return (await this.#initialize(key, there)) ?? {};
    else if (maintained) await this.#maintain(key, there);
    return {};
  }

  async #initialize(key: ObjectKey, there: LogicalClusterObject): Promise<ReconcileResult | undefined> {
    this.#setup ??= this.#setupOf();
    const found = this.#setup.find(key, there);
    return found && initialize({ ...this.#options, setup: this.#setup }, key, found);
  }

  #setupOf(): Setup {
    const { services, state, log } = this.#options;
    const own = new OwnSetup(this.#options);
    if (services?.initializing === undefined) return own;
    const { clusterRoleBindings } = state.rbac;
    const isOwned = (cluster: string): boolean =>
      clusterRoleBindings.store.get({ cluster, namespace: "", name: OWNER_BINDING }) !== undefined;
    if (services.initializing === "here") {
      const onStarted = (): void => this.#waiting();
      return new CreatorSetup({ services, own, isOwned, onStarted });
    }
    const found = (key: ObjectKey): void => this.#controller.add(key);
    const current = (cluster: string): LogicalClusterObject | undefined => state.logicalCluster(cluster);
    return this.#stack.use(new ViewSetup({ services, own, isOwned, current, found, log }));
  }

  async #maintain(key: ObjectKey, there: LogicalClusterObject): Promise<void> {
    const { bound } = this.#options;
    if (bound.isUnknown(key.cluster, bound.wantedBy(there))) this.#unknown.add(key.cluster);
    else await maintain(this.#options, key, there);
  }
}

/** Options of {@link catchUp}. */
interface CatchUpOptions {
  readonly objects: ShardObjects;
  readonly exports: Exports;
  readonly bound: BoundByDefault;
}

/** Gives a workspace that {@link isOlder} the bindings that it would get today, or that it had before. */
async function catchUp(
  { objects, exports, bound }: CatchUpOptions,
  key: ObjectKey,
  there: LogicalClusterObject,
): Promise<void> {
  const wanted = isUniversal(there) ? bound.wantedBy(there) : ONCE_EVERYWHERE;
  if (wanted instanceof TypeFault || wanted.length === 0) return;
  const isNew = isUniversal(there) && there.status?.phase === "Initializing";
  if (!isNew) {
    for (const each of wanted) {
      const found = exports.find(each, key.cluster);
      if (found === undefined) return;
      if (!bound.has(key.cluster, each)) await bound.ensure(key, { wanted: each, found, own: true });
    }
  }
  await modify(objects.of(LogicalCluster), key, (current) => {
    if (!isOlder(current, exports)) return undefined;
    const { metadata, spec, status = {} } = current;
    if (!isUniversal(current))
      return {
        ...current,
        metadata: { ...metadata, annotations: { ...metadata.annotations, [GIVEN_ANNOTATION]: "true" } },
      };
    const withIt = (names: readonly string[] = []): string[] => [...names, API_BINDINGS_INITIALIZER];
    return {
      ...current,
      spec: { ...spec, initializers: withIt(spec.initializers) },
      status: isNew ? { ...status, initializers: withIt(status.initializers) } : status,
    };
  });
}

/** Marks logical clusters of other types that have been given their bindings. */
const GIVEN_ANNOTATION = "virtual-workspaces.io/universal-bindings-given";

/** Bindings of the type `universal`. Every workspace had these APIs, whatever its type, before they came from exports. */
const ONCE_EVERYWHERE: readonly DefaultExport[] = UNIVERSAL_BINDINGS.map(({ path, export: name }) => ({
  path,
  name,
}));

/** Reports whether a workspace has the type `universal` or one that extends it. */
function isUniversal({ spec }: LogicalCluster): boolean {
  return spec.initializers?.includes(UNIVERSAL_INITIALIZER) === true;
}

/**
 * Reports whether a workspace predates the exports in `root` and still lacks their bindings. For `universal`, a missing
 * initializer tells this. For other types, which need not bind anything, the age tells it. A mark then keeps deleted
 * bindings from being created again.
 */
function isOlder(there: LogicalCluster, exports: Exports): boolean {
  const { metadata, spec } = there;
  if (isUniversal(there)) return spec.initializers?.includes(API_BINDINGS_INITIALIZER) !== true;
  const cluster = clusterOf(there);
  if (cluster === ROOT_CLUSTER || metadata.annotations?.[GIVEN_ANNOTATION] !== undefined) return false;
  const { creationTimestamp: made } = metadata;
  return ONCE_EVERYWHERE.some((each) => {
    const { creationTimestamp: since } = exports.find(each, cluster)?.metadata ?? {};
    return typeof made === "string" && typeof since === "string" && made < since;
  });
}

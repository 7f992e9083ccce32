import type { ObjectKey } from "@virtual-workspaces/apimachinery";
import { type Controller, controller, type ReconcileFailure } from "@virtual-workspaces/client";
import { User } from "@virtual-workspaces/framework";
import {
  API_BINDING_FINALIZER,
  API_BINDINGS_INITIALIZER,
  APIBinding,
  type APIBinding as APIBindingObject,
  type APIExport,
  BINDING_EXPORT_LABEL,
  defaultBindingName,
  deleteCondition,
  isConditionTrue,
  LogicalCluster,
  type LogicalCluster as LogicalClusterObject,
  markFalse,
  markTrue,
  PATH_ANNOTATION,
  WORKSPACE_TYPE_ANNOTATION,
} from "@virtual-workspaces/kcp";
import type { ShardContext, ShardPart } from "../../../shard/context.ts";
import { ensure, modify } from "../../../shard/modify.ts";
import type { ShardObjects } from "../../../shard/objects.ts";
import { logicalClusterKey, type ShardState } from "../../../shard/state.ts";
import type { IsAllowed } from "../../../workspaces/access.ts";
import { UNIVERSAL_INITIALIZER } from "../../../workspaces/types/holders.ts";
import { bindAttributes } from "../../admission/access.ts";
import { canonicalPath } from "../../admission/path-annotation.ts";
import { clusterOf, type Exports, exportText } from "../../exports.ts";
import { follow } from "../../follow.ts";
import type { Known } from "../../known.ts";
import { CLAIMS_APPLIED, INITIAL_BINDING } from "../binding/draft.ts";
import {
  acceptedClaims,
  defaultExports,
  TypeFault,
  type TypesOf,
  typesFrom,
  type DefaultExport as Wanted,
} from "./wanted.ts";

/** What making default bindings asks. */
export interface DefaultBindingsOptions {
  readonly objects: ShardObjects;
  readonly state: ShardState;
  readonly exports: Exports;
  readonly known: Known;
  readonly typesOf: TypesOf;
  readonly mayAccess: IsAllowed;
  readonly now: () => Date;
  readonly onError: (failure: ReconcileFailure) => void;
}

type Status = NonNullable<LogicalClusterObject["status"]>;

const INITIALIZED = "APIBindingsInitialized";
const RECONCILED = "APIBindingsReconciled";

/**
 * The bindings that workspaces have by their type: made while a workspace is set up, as its creator, who must be allowed to
 * bind each export; and where the type says `Maintain`, made and put right later, as the server. A workspace whose type or
 * exports are at fault says so in its LogicalCluster, and stays as it is until they are right.
 */
export class DefaultBindings implements ShardPart {
  readonly started: Promise<void>;
  readonly #options: DefaultBindingsOptions;
  readonly #controller: Controller<LogicalClusterObject>;
  readonly #maintained = new Set<string>();
  /** Those that wait, as they were last looked at: few, of many. */
  readonly #held = new Set<string>();
  /** Those to be looked at when it is known what their types say, which a shard may have that does not run. */
  readonly #unknown = new Set<string>();
  #later: Promise<void> | undefined;
  readonly #stack = new DisposableStack();

  constructor(options: DefaultBindingsOptions) {
    const { state, onError } = options;
    this.#options = options;
    this.#controller = controller<LogicalClusterObject>({
      name: "default-apibindings",
      sources: [{ informer: state.logicalClusters }],
      reconcile: options.known(state.logicalClusters, (key, { object }) => this.#reconcile(key, object)),
      onError,
      workers: 4,
    });
    this.started = this.#controller.started;
    this.#stack.use(
      follow(
        state.apiBindings,
        (_, { cluster }) => {
          const there = state.logicalCluster(cluster);
          if (there !== undefined && this.#waits(there)) this.#controller.add(logicalClusterKey(cluster));
        },
        ({ metadata, status }) => [metadata.uid, status?.conditions],
      ),
    );
  }

  /** Heeds the types and exports of a shard, also those of others. @returns ends that */
  follow({ state }: ShardContext): Disposable {
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

  /** A shard has come or gone: what was not known may be now. */
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
    this.#stack.dispose();
    await this.#controller.stop();
  }

  /** Those that are being set up may go on. */
  #waiting(): void {
    for (const cluster of this.#held) this.#controller.add(logicalClusterKey(cluster));
  }

  /** A type or an export says something else: all that follow it are looked at, when all are known. */
  #changed(): void {
    const { objects } = this.#options;
    if (!objects.isWhole) {
      this.#later ??= objects.whole.then(() => {
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
    return (phase === "Initializing" && initializers.includes(API_BINDINGS_INITIALIZER)) || isOlder(there);
  }

  async #reconcile(key: ObjectKey, there: LogicalClusterObject | undefined): Promise<void> {
    const maintain = this.#maintained.delete(key.cluster);
    this.#held.delete(key.cluster);
    if (there === undefined || there.metadata.deletionTimestamp !== undefined) return;
    const waits = this.#waits(there);
    if (waits) this.#held.add(key.cluster);
    if (isOlder(there)) await this.#catchUp(key, there);
    else if (waits) await this.#initialize(key, there);
    else if (maintain) await this.#maintain(key, there);
  }

  async #initialize(key: ObjectKey, there: LogicalClusterObject): Promise<void> {
    const wanted = this.#exportsOf(there);
    if (this.#isUnknown(key, wanted)) return;
    if (wanted instanceof TypeFault) {
      await this.#say(key, { reason: "WorkspaceTypesInvalid", severity: "Error", message: wanted.message });
      return;
    }
    const faults: string[] = [];
    for (const each of wanted) {
      const fault = this.#bindingTo(key.cluster, each) === undefined ? await this.#make(key, there, each) : undefined;
      if (fault !== undefined) faults.push(fault);
    }
    if (faults.length > 0) {
      const message = `encountered errors: ${faults.length === 1 ? faults[0] : `[${faults.join(", ")}]`}`;
      await this.#say(key, { reason: "APIBindingErrors", severity: "Error", message });
      return;
    }
    const pending = this.#pending(key.cluster, wanted);
    if (pending.length > 0) {
      const message = `APIBinding(s) not yet fully bound: ${pending.join(", ")}`;
      await this.#say(key, { reason: "WaitingOnAPIBindings", severity: "Info", message });
      return;
    }
    await this.#status(key, ({ conditions, initializers = [], ...status }) => {
      const others = initializers.filter((name) => name !== API_BINDINGS_INITIALIZER);
      return {
        ...status,
        // Nothing is waited for any more.
        ...(conditions && { conditions: deleteCondition(conditions, INITIALIZED) }),
        ...(others.length > 0 && { initializers: others }),
      };
    });
  }

  /** Gives a workspace what it would have been given, had it been made today. It looks the same then. */
  async #catchUp(key: ObjectKey, there: LogicalClusterObject): Promise<void> {
    const { exports, objects } = this.#options;
    const wanted = this.#exportsOf(there);
    if (wanted instanceof TypeFault || wanted.length === 0) return;
    const isNew = there.status?.phase === "Initializing";
    if (!isNew) {
      for (const each of wanted) {
        const found = exports.find(each, key.cluster);
        if (found === undefined) return;
        if (this.#bindingTo(key.cluster, each) === undefined)
          await this.#ensure(key, { wanted: each, found, own: true });
      }
    }
    await modify(objects.of(LogicalCluster), key, (current) => {
      if (!isOlder(current)) return undefined;
      const { spec, status = {} } = current;
      const withIt = (names: readonly string[] = []): string[] => [...names, API_BINDINGS_INITIALIZER];
      return {
        ...current,
        spec: { ...spec, initializers: withIt(spec.initializers) },
        status: isNew ? { ...status, initializers: withIt(status.initializers) } : status,
      };
    });
  }

  /** Whether a shard that does not run may have what is not found. */
  #isUnknown({ cluster }: ObjectKey, wanted: readonly Wanted[] | TypeFault): boolean {
    const { exports } = this.#options;
    const isFound = !(wanted instanceof TypeFault) && wanted.every((each) => exports.find(each, cluster) !== undefined);
    return !isFound && exports.missing.length > 0;
  }

  /** What its types bind, or why that is not known. */
  #exportsOf({ metadata }: LogicalClusterObject): readonly Wanted[] | TypeFault {
    const type = metadata.annotations?.[WORKSPACE_TYPE_ANNOTATION];
    try {
      return type === undefined ? [] : defaultExports(typesFrom(type, this.#options.typesOf));
    } catch (error) {
      if (error instanceof TypeFault) return error;
      throw error;
    }
  }

  /** @returns why it cannot be made */
  async #make(key: ObjectKey, there: LogicalClusterObject, wanted: Wanted): Promise<string | undefined> {
    const { exports, mayAccess } = this.#options;
    const found = exports.find(wanted, key.cluster);
    if (found === undefined) return "unable to complete initialization: unable to find at least 1 APIExport";
    const creator = creatorOf(there);
    if (creator !== undefined && !(await mayAccess(creator, clusterOf(found), bindAttributes(wanted.name)))) {
      const binding = JSON.stringify(nameOf(key.cluster, wanted));
      return `apibindings.apis.kcp.io ${binding} is forbidden: unable to create APIBinding: no permission to bind to export ${wanted.path}:${wanted.name}`;
    }
    await this.#ensure(key, { wanted, found, own: true });
    return undefined;
  }

  async #ensure(
    { cluster }: ObjectKey,
    { wanted, found, own }: { readonly wanted: Wanted; readonly found: APIExport; readonly own: boolean },
  ): Promise<void> {
    const { objects, state, exports } = this.#options;
    const claims = acceptedClaims(found, own);
    const path = canonicalPath(state, cluster);
    await ensure(objects.of(APIBinding), { cluster, namespace: "", name: nameOf(cluster, wanted) }, () => ({
      metadata: {
        finalizers: [API_BINDING_FINALIZER],
        labels: { [BINDING_EXPORT_LABEL]: exports.hashOf(found) },
        ...(path !== undefined && { annotations: { [PATH_ANNOTATION]: path } }),
      },
      spec: { reference: { export: wanted }, ...(claims.length > 0 && { permissionClaims: claims }) },
    }));
  }

  async #maintain(key: ObjectKey, there: LogicalClusterObject): Promise<void> {
    const { exports, objects, typesOf, now } = this.#options;
    const type = there.metadata.annotations?.[WORKSPACE_TYPE_ANNOTATION];
    if (type === undefined) return;
    if (this.#isUnknown(key, this.#exportsOf(there))) {
      this.#unknown.add(key.cluster);
      return;
    }
    const types = typesFrom(type, typesOf).filter(({ spec }) => spec?.defaultAPIBindingLifecycle === "Maintain");
    const wanted = defaultExports(types);
    if (wanted.length === 0) return;
    for (const each of wanted) {
      const found = exports.find(each, key.cluster);
      if (found === undefined) continue;
      const name = nameOf(key.cluster, each);
      await this.#ensure(key, { wanted: each, found, own: false });
      await modify(objects.of(APIBinding), { ...key, name }, (binding) => {
        const claims = acceptedClaims(found, false);
        const spec = { reference: { export: each }, ...(claims.length > 0 && { permissionClaims: claims }) };
        return { ...binding, spec } as APIBindingObject;
      });
    }
    const pending = this.#pending(key.cluster, wanted);
    const message = `APIBinding(s) not yet fully reconciled: ${pending.join(", ")}`;
    await this.#status(key, (status) => ({
      ...status,
      conditions:
        pending.length === 0
          ? markTrue(status.conditions, RECONCILED, now())
          : markFalse(
              status.conditions,
              { type: RECONCILED, reason: "WaitingOnAPIBindings", severity: "Info", message },
              now(),
            ),
    }));
  }

  #pending(cluster: string, wanted: readonly Wanted[]): string[] {
    return wanted
      .flatMap((each) => {
        const binding = this.#bindingTo(cluster, each);
        if (binding === undefined) return [`for APIExport ${exportText(each, cluster)}`];
        const { name = "" } = binding.metadata;
        const { conditions } = binding.status ?? {};
        if (!isConditionTrue(conditions, INITIAL_BINDING)) return [name];
        const claims = binding.spec.permissionClaims?.some(({ state }) => state === "Accepted") === true;
        if (!claims || isConditionTrue(conditions, CLAIMS_APPLIED)) return [];
        return [`${name} waiting for permission claims to be applied`];
      })
      .sort();
  }

  /** Any binding to the export, whatever its name. */
  #bindingTo(cluster: string, wanted: Wanted): APIBindingObject | undefined {
    return this.#options.state.apiBindings.store.list(cluster).find(({ spec }) => {
      const { path = cluster, name } = spec.reference.export ?? { name: "" };
      return path === wanted.path && name === wanted.name;
    });
  }

  #say(
    key: ObjectKey,
    fault: { readonly reason: string; readonly severity: "Error" | "Info"; readonly message: string },
  ): Promise<void> {
    return this.#status(key, (status) => ({
      ...status,
      conditions: markFalse(status.conditions, { type: INITIALIZED, ...fault }, this.#options.now()),
    }));
  }

  async #status(key: ObjectKey, change: (status: Status) => Status): Promise<void> {
    await modify(this.#options.objects.of(LogicalCluster), key, (there) => ({
      ...there,
      status: change(there.status ?? {}),
    }));
  }
}

/** Of the type `universal` or one that extends it, and made before that type bound anything by default. */
function isOlder({ spec }: LogicalClusterObject): boolean {
  const { initializers = [] } = spec;
  return initializers.includes(UNIVERSAL_INITIALIZER) && !initializers.includes(API_BINDINGS_INITIALIZER);
}

/** Whom it was made for; `undefined` when that was `system:masters`, of whom nobody keeps a record, and who may all. */
function creatorOf({ spec: { createdBy } }: LogicalClusterObject): User | undefined {
  if (createdBy === undefined) return undefined;
  const { username: name = "", uid = "", groups = [], extra = {} } = createdBy;
  return new User({ name, uid, groups, extra });
}

function nameOf(cluster: string, { path, name }: Wanted): string {
  return defaultBindingName({ cluster, exportPath: path, exportName: name });
}

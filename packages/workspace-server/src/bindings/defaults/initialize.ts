import type { ObjectKey } from "@virtual-workspaces/apimachinery";
import type { ReconcileResult } from "@virtual-workspaces/client";
import {
  API_BINDINGS_INITIALIZER,
  APIBinding,
  type LogicalCluster as LogicalClusterObject,
  TypeFault,
  type TypesOf,
  typesFrom,
} from "@virtual-workspaces/kcp";
import { deleteCondition, markFalse, markTrue } from "@virtual-workspaces/kcp/conditions";
import { WORKSPACE_TYPE_ANNOTATION } from "@virtual-workspaces/kcp/names";
import { modify } from "../../state/modify.ts";
import type { ShardObjects } from "../../state/objects.ts";
import type { Exports } from "../exports/exports.ts";
import { type BoundByDefault, type DefaultExport, defaultExports, nameOf, specTo } from "./default-bindings.ts";
import { modifyStatus, type Setup } from "./setup.ts";

/** Options of {@link initialize}. */
export interface InitializeOptions {
  readonly setup: Setup;
  readonly exports: Exports;
  readonly bound: BoundByDefault;
  readonly now: () => Date;
}

const INITIALIZED = "APIBindingsInitialized";

/**
 * Time that bindings get before the workspace reports that it waits for them, in milliseconds. Most need a hundredth of it,
 * and a second or two among a hundred new workspaces.
 */
const REPORTED_AFTER = 5_000;

/**
 * Creates a workspace's default bindings as its creator, and removes the initializer when all are bound.
 *
 * @returns when to call it again without an event
 */
export async function initialize(
  options: InitializeOptions,
  key: ObjectKey,
  there: LogicalClusterObject,
): Promise<ReconcileResult | undefined> {
  const { bound, setup } = options;
  const wanted = bound.wantedBy(there);
  if (bound.isUnknown(key.cluster, wanted)) return undefined;
  if (wanted instanceof TypeFault) {
    await say(options, key, { reason: "WorkspaceTypesInvalid", severity: "Error", message: wanted.message });
    return undefined;
  }
  const missing = wanted.filter((each) => !bound.has(key.cluster, each));
  const made = await Promise.all(missing.map((each) => make(options, there, { key, wanted: each })));
  const faults = made.filter((fault) => fault !== undefined);
  if (faults.length > 0) {
    const message = `encountered errors: ${faults.length === 1 ? faults[0] : `[${faults.join(", ")}]`}`;
    await say(options, key, { reason: "APIBindingErrors", severity: "Error", message });
    return undefined;
  }
  const pending = bound.pending(key.cluster, wanted);
  if (pending.length > 0) {
    // Events of the bindings continue this: they become bound, or report why not. Without one, it reports that it waits.
    if (missing.length > 0) return { requeueAfter: REPORTED_AFTER };
    const left = bound.newest(key.cluster, wanted) + REPORTED_AFTER - options.now().getTime();
    if (left > 0) return { requeueAfter: left };
    const message = `APIBinding(s) not yet fully bound: ${pending.join(", ")}`;
    await say(options, key, { reason: "WaitingOnAPIBindings", severity: "Info", message });
    return undefined;
  }
  const done = new Set([API_BINDINGS_INITIALIZER, ...setup.alsoDone(key)]);
  await setup.changeStatus(key, ({ conditions, initializers = [], ...status }) => {
    const others = initializers.filter((name) => !done.has(name));
    return {
      ...status,
      // The initialization is complete.
      ...(conditions && { conditions: deleteCondition(conditions, INITIALIZED) }),
      ...(others.length > 0 && { initializers: others }),
    };
  });
  return undefined;
}

/** @returns why the binding cannot be created */
async function make(
  { setup, exports }: InitializeOptions,
  there: LogicalClusterObject,
  { key, wanted }: { readonly key: ObjectKey; readonly wanted: DefaultExport },
): Promise<string | undefined> {
  const found = exports.find(wanted, key.cluster);
  if (found === undefined) return "unable to complete initialization: unable to find at least 1 APIExport";
  return setup.bind(key, there, { wanted, found, own: true });
}

function say(
  { setup, now }: InitializeOptions,
  key: ObjectKey,
  fault: { readonly reason: string; readonly severity: "Error" | "Info"; readonly message: string },
): Promise<void> {
  return setup.changeStatus(key, (status) => ({
    ...status,
    conditions: markFalse(status.conditions, { type: INITIALIZED, ...fault }, now()),
  }));
}

/** Options of {@link maintain}. */
interface MaintainOptions {
  readonly objects: ShardObjects;
  readonly exports: Exports;
  readonly bound: BoundByDefault;
  readonly typesOf: TypesOf;
  readonly now: () => Date;
}

const RECONCILED = "APIBindingsReconciled";

/** Creates and corrects, as the server, the bindings of types with `Maintain`. @throws TypeFault */
export async function maintain(
  { bound, exports, objects, typesOf, now }: MaintainOptions,
  key: ObjectKey,
  there: LogicalClusterObject,
): Promise<void> {
  const type = there.metadata.annotations?.[WORKSPACE_TYPE_ANNOTATION];
  if (type === undefined) return;
  const types = typesFrom(type, typesOf).filter(({ spec }) => spec?.defaultAPIBindingLifecycle === "Maintain");
  const wanted = defaultExports(types);
  if (wanted.length === 0) return;
  for (const each of wanted) {
    const found = exports.find(each, key.cluster);
    if (found === undefined) continue;
    const name = nameOf(key.cluster, each);
    const to = { wanted: each, found, own: false };
    await bound.ensure(key, to);
    await modify(objects.of(APIBinding), { ...key, name }, (binding) => ({ ...binding, spec: specTo(to) }));
  }
  const pending = bound.pending(key.cluster, wanted);
  const message = `APIBinding(s) not yet fully reconciled: ${pending.join(", ")}`;
  await modifyStatus(objects, key, (status) => ({
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

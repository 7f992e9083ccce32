import type { ObjectKey } from "@virtual-workspaces/apimachinery";
import {
  APIBinding,
  type LogicalCluster as LogicalClusterObject,
  markFalse,
  markTrue,
  type TypesOf,
  typesFrom,
  WORKSPACE_TYPE_ANNOTATION,
} from "@virtual-workspaces/kcp";
import { modify } from "../../state/modify.ts";
import type { ShardObjects } from "../../state/objects.ts";
import type { Exports } from "../exports/exports.ts";
import { type BoundByDefault, nameOf, specTo } from "./bound.ts";
import { modifyStatus } from "./status.ts";
import { defaultExports } from "./wanted.ts";

/** What {@link maintain} needs. */
export interface MaintainOptions {
  readonly objects: ShardObjects;
  readonly exports: Exports;
  readonly bound: BoundByDefault;
  readonly typesOf: TypesOf;
  readonly now: () => Date;
}

const RECONCILED = "APIBindingsReconciled";

/** Makes and puts right, as the server, what those of a workspace's types bind that say `Maintain`. @throws TypeFault */
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

import { isApiError, type KubeObject, type ObjectKey, type ObjectOf } from "@virtual-workspaces/apimachinery";
import { equalJson } from "@virtual-workspaces/apimachinery/json";
import {
  type LabelSelector,
  type LabelSelectorObject,
  labelSelectorFromObject,
} from "@virtual-workspaces/apimachinery/selectors";
import { related } from "@virtual-workspaces/client";
import type { PolicyRule } from "@virtual-workspaces/framework/authz";
import { ClusterRole, type ClusterRoleKindContent } from "../kinds/rbac.ts";
import type { ShardContext, ShardController } from "../state/context.ts";
import { modify } from "../state/modify.ts";
import { startController } from "./shard-controllers.ts";

type Role = ObjectOf<ClusterRoleKindContent>;

/**
 * Writes the rules of aggregated ClusterRoles, for clients that read them (Kubernetes' `clusterrole-aggregation-controller`). The
 * authorizer does not wait for that: it combines the rules by itself.
 */
export function aggregatedRoles(context: ShardContext): ShardController {
  const { clusterRoles } = context.state.rbac;
  const { store } = clusterRoles;
  return startController<Role & KubeObject>(context, {
    name: "clusterrole-aggregation",
    sources: [
      { informer: clusterRoles as never },
      related(clusterRoles as never, (_: unknown, { cluster }: ObjectKey) => store.keysBy("aggregated", cluster)),
    ],
    reconcile: async (key, { object }) => {
      if (object?.aggregationRule === undefined) return;
      await modify(context.objects.of(ClusterRole), key, (current) => {
        const rules = collected(current, store.list(key.cluster));
        return rules === undefined || equalJson(rules, current.rules ?? []) ? undefined : { ...current, rules };
      });
    },
  });
}

/** Returns the rules of the roles that match, each once; `undefined` if the role aggregates none. */
function collected({ metadata, aggregationRule }: Role, roles: readonly Role[]): PolicyRule[] | undefined {
  if (aggregationRule === undefined) return undefined;
  const others = roles
    .filter((role) => role.metadata.name !== metadata.name)
    .toSorted((a, b) => ((a.metadata.name ?? "") < (b.metadata.name ?? "") ? -1 : 1));
  const rules = new Map<string, PolicyRule>();
  for (const selector of aggregationRule.clusterRoleSelectors ?? []) {
    const labels = selectorOf(selector);
    const found = others.filter((role) => labels?.matches(role.metadata.labels ?? {}) === true);
    for (const rule of found.flatMap((role) => role.rules ?? [])) {
      const text = JSON.stringify(plain(rule));
      if (!rules.has(text)) rules.set(text, rule);
    }
  }
  return [...rules.values()];
}

/** Returns `undefined` for an invalid selector, which an earlier version has stored. */
function selectorOf(selector: LabelSelectorObject): LabelSelector | undefined {
  try {
    return labelSelectorFromObject(selector);
  } catch (error) {
    if (isApiError(error)) return undefined;
    throw error;
  }
}

/** Returns a rule without empty lists, in one order. */
function plain({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule): unknown {
  return [verbs, apiGroups, resources, resourceNames, nonResourceURLs].map((texts) => texts ?? []);
}

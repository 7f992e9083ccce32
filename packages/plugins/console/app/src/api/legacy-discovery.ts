import { request } from "./client.ts";
import type { GroupList } from "./discovery.ts";

/** Answer of `/api` or `/apis` of a server without aggregated discovery, such as kcp. */
export type LegacyList =
  | { readonly kind: "APIVersions"; readonly versions: readonly string[] }
  | { readonly kind: "APIGroupList"; readonly groups: readonly LegacyGroup[] };

interface LegacyGroup {
  readonly name: string;
  readonly versions: readonly { readonly version: string }[];
  readonly preferredVersion?: { readonly version: string };
}

interface ResourceList {
  readonly resources: readonly {
    readonly name: string;
    readonly kind: string;
    readonly namespaced: boolean;
    readonly singularName?: string;
    readonly verbs?: readonly string[];
    readonly shortNames?: readonly string[];
  }[];
}

type Items = NonNullable<GroupList["items"]>;
type Versions = NonNullable<Items[number]["versions"]>;

/** Reads the resources of each version, and returns them as aggregated discovery has them. A version that fails is left out. */
export async function aggregated(path: string, list: LegacyList, signal: AbortSignal): Promise<GroupList> {
  const groups =
    list.kind === "APIVersions"
      ? [{ name: "", versions: list.versions.map((version) => ({ version })) }]
      : list.groups.map(inOrder);
  const items = await Promise.all(
    groups.map(async ({ name, versions }) => {
      const below = name === "" ? `${path}/api` : `${path}/apis/${name}`;
      const read = versions.map(({ version }) => versionOf(below, version, signal));
      return { metadata: { name }, versions: (await Promise.all(read)).flat() };
    }),
  );
  return { kind: "APIGroupDiscoveryList", items };
}

/** Puts the preferred version first. */
function inOrder({ preferredVersion, ...group }: LegacyGroup): LegacyGroup {
  const rank = ({ version }: { readonly version: string }): number => (version === preferredVersion?.version ? 0 : 1);
  return { ...group, versions: group.versions.toSorted((a, b) => rank(a) - rank(b)) };
}

async function versionOf(path: string, version: string, signal: AbortSignal): Promise<Versions> {
  let list: ResourceList;
  try {
    list = await request<ResourceList>(`${path}/${version}`, { signal });
  } catch {
    signal.throwIfAborted();
    return [];
  }
  const resources = list.resources
    .filter(({ name }) => !name.includes("/"))
    .map(({ name, kind, namespaced, singularName = "", verbs = [], shortNames = [] }) => ({
      ...{ resource: name, responseKind: { kind }, scope: namespaced ? "Namespaced" : "Cluster" },
      ...{ singularResource: singularName, verbs, shortNames },
      subresources: list.resources
        .filter((one) => one.name.startsWith(`${name}/`))
        .map((one) => ({ subresource: one.name.slice(name.length + 1) })),
    }));
  return [{ version, resources }];
}

// Random valid APIExports and APIBindings of both versions, with defaults and without meaningless empty fields.
import type { APIBinding, APIBindingV1alpha1, APIExport, APIExportV1alpha1 } from "@virtual-workspaces/kcp";
import type { Random } from "../_support/random.ts";

const METADATA = { name: "a", uid: "1", resourceVersion: "5", labels: { l: "x" }, annotations: { own: "<&>" } };
const VERBS = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"];
const KEYS = ["", "apps", "example.dev"].flatMap((group) =>
  ["configmaps", "secrets", "widgets"].flatMap((resource) =>
    ["", "deadbeef"].map((identityHash) => ({ group, resource, identityHash })),
  ),
);

function some<T>(random: Random, values: readonly T[], most = 4): T[] {
  return values
    .map((value) => ({ value, by: random.next() }))
    .sort((a, b) => a.by - b.by)
    .slice(0, random.below(most + 1))
    .map(({ value }) => value);
}

/** Returns an optional list, which is sometimes missing. */
function list<Name extends string, T>(random: Random, name: Name, make: () => T[]): { [N in Name]?: T[] } {
  return random.chance(0.2) ? {} : ({ [name]: make() } as { [N in Name]?: T[] });
}

const selector = (random: Random) => {
  const kinds = [
    { matchAll: true },
    { matchLabels: { "a.dev/b": "1", a: "" } },
    {
      matchExpressions: [
        { key: "a", operator: "In", values: ["b", "c"] },
        { key: "d", operator: "Exists" },
      ],
    },
    { matchLabels: { a: "b" }, matchExpressions: [{ key: "d", operator: "Exists" }] },
    {},
  ];
  return random.pick(kinds);
};

const newerClaim = (random: Random, key: (typeof KEYS)[number]) => ({
  ...key,
  verbs: random.chance(0.4) ? ["*"] : ["get", ...some(random, VERBS.slice(1))],
  ...(random.chance(0.3) ? { defaultSelector: selector(random) } : {}),
});

const olderClaim = (random: Random, { group, resource, identityHash }: (typeof KEYS)[number], grouped = false) => ({
  ...(group === "" && !grouped ? {} : { group }),
  resource,
  ...(identityHash === "" ? {} : { identityHash }),
  ...(random.chance(0.5)
    ? { all: true }
    : {
        resourceSelector: [{ name: "a" }, { namespace: "<b>" }, { name: "c", namespace: "d" }].slice(random.below(3)),
      }),
  ...(random.chance(0.1) ? { all: false } : {}),
});

const state = (random: Random) => random.pick(["Accepted", "Rejected"] as const);
const byGroupResource = KEYS.filter(({ identityHash }) => identityHash === "deadbeef");
/** A list without keys may contain duplicates. */
const repeated = (random: Random) => [...some(random, KEYS), ...some(random, KEYS)];

export function randomExport(random: Random): APIExport {
  const resources = some(random, ["widgets", "gadgets", "gears", "cogs"]).map((name) => {
    const group = random.pick(["example.dev", ""]);
    const schema = random.chance(0.1) ? "odd" : `v1.${name}.${group === "" ? "core" : group}`;
    const reference = { apiGroup: "x.dev", kind: "Slice", name: "s" };
    const storage = random.chance(0.6) ? { crd: {} } : { virtual: { reference, identityHash: "h" } };
    return { name: random.chance(0.1) ? `other-${name}` : name, group, schema, storage };
  });
  return {
    apiVersion: "apis.kcp.io/v1alpha2",
    kind: "APIExport",
    metadata: METADATA,
    spec: {
      ...(random.chance(0.5) ? { identity: { secretRef: { namespace: "kcp-system", name: "a" } } } : {}),
      ...(random.chance(0.3) ? { maximalPermissionPolicy: { local: {} } } : {}),
      ...list(random, "resources", () => resources),
      ...list(random, "permissionClaims", () => some(random, byGroupResource).map((key) => newerClaim(random, key))),
    },
    ...(random.chance(0.5) ? { status: { identityHash: "x", conditions: [] } } : {}),
  };
}

export function randomOlderExport(random: Random): APIExportV1alpha1 {
  return {
    apiVersion: "apis.kcp.io/v1alpha1",
    kind: "APIExport",
    metadata: METADATA,
    spec: {
      ...list(random, "latestResourceSchemas", () =>
        some(random, ["v1.widgets.example.dev", "v2.gears.core", "today.cogs.a.b.c", "v1.pins.apps"]),
      ),
      ...list(random, "permissionClaims", () =>
        some(random, byGroupResource).map((key) => olderClaim(random, key, true)),
      ),
    },
    ...(random.chance(0.5) ? { status: { identityHash: "x" } } : {}),
  };
}

export function randomBinding(random: Random): APIBinding {
  const scoped = (key: (typeof KEYS)[number]) => ({ ...newerClaim(random, key), selector: selector(random) });
  return {
    apiVersion: "apis.kcp.io/v1alpha2",
    kind: "APIBinding",
    metadata: METADATA,
    spec: {
      reference: { export: { path: "root:org", name: "widgets" } },
      ...list(random, "permissionClaims", () =>
        some(random, KEYS, 8).map((key) => ({ ...scoped(key), state: state(random) })),
      ),
    },
    status: {
      phase: "Bound",
      boundResources: [],
      ...list(random, "appliedPermissionClaims", () => some(random, KEYS).map(scoped)),
      ...list(random, "exportPermissionClaims", () => repeated(random).map((key) => newerClaim(random, key))),
    },
  };
}

export function randomOlderBinding(random: Random): APIBindingV1alpha1 {
  return {
    apiVersion: "apis.kcp.io/v1alpha1",
    kind: "APIBinding",
    metadata: METADATA,
    spec: {
      reference: { export: { name: "widgets" } },
      ...list(random, "permissionClaims", () =>
        repeated(random).map((key) => ({ ...olderClaim(random, key), state: state(random) })),
      ),
    },
    status: {
      ...list(random, "appliedPermissionClaims", () => repeated(random).map((key) => olderClaim(random, key))),
      ...list(random, "exportPermissionClaims", () => repeated(random).map((key) => olderClaim(random, key))),
    },
  };
}

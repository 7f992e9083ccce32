// Conversion of APIExport and APIBinding between v1alpha1 and v1alpha2: it loses nothing in either direction, and uses kcp's
// annotations.
import type { KubeObject } from "@virtual-workspaces/apimachinery";
import type { APIBinding, APIBindingV1alpha1, APIExport, APIExportV1alpha1 } from "@virtual-workspaces/kcp";
import {
  apiBindingToV1alpha1,
  apiBindingToV1alpha2,
  apiExportToV1alpha1,
  apiExportToV1alpha2,
} from "@virtual-workspaces/kcp/apis";
import { expect } from "chai";
import { Random } from "../_support/random.ts";
import { randomBinding, randomExport, randomOlderBinding, randomOlderExport } from "./apis-random.ts";

/** Returns a converted object as the server would complete it, with labels, annotations and the rest. */
function whole<T>(object: KubeObject, made: object): T {
  const { annotations, ...metadata } = { ...object.metadata, ...(made as KubeObject).metadata };
  const given = annotations !== undefined && Object.keys(annotations).length > 0 ? { annotations } : {};
  return { apiVersion: object.apiVersion, kind: object.kind, ...made, metadata: { ...metadata, ...given } } as T;
}

const toOlder = {
  export: (object: APIExport) => whole<APIExportV1alpha1>(object, apiExportToV1alpha1(object)),
  binding: (object: APIBinding) => whole<APIBindingV1alpha1>(object, apiBindingToV1alpha1(object)),
};
const toNewer = {
  export: (object: APIExportV1alpha1) => whole<APIExport>(object, apiExportToV1alpha2(object)),
  binding: (object: APIBindingV1alpha1) => whole<APIBinding>(object, apiBindingToV1alpha2(object)),
};

function each(check: (random: Random) => void): void {
  for (let seed = 1; seed <= 1000; seed += 1) {
    try {
      check(new Random(seed));
    } catch (error) {
      throw new Error(`seed ${seed}: ${(error as Error).message}`, { cause: error });
    }
  }
}

describe("versions of apis.kcp.io", () => {
  it("restore every APIExport after a round trip", () => {
    each((random) => {
      const newer = randomExport(random);
      expect(toNewer.export(toOlder.export(newer))).to.deep.equal(newer);
      const older = randomOlderExport(random);
      expect(toOlder.export(toNewer.export(older))).to.deep.equal(older);
      expect(toNewer.export(toOlder.export(toNewer.export(older)))).to.deep.equal(toNewer.export(older));
    });
  });

  it("restore every APIBinding after a round trip", () => {
    each((random) => {
      const newer = randomBinding(random);
      expect(toNewer.binding(toOlder.binding(newer))).to.deep.equal(newer);
      const older = randomOlderBinding(random);
      expect(toOlder.binding(toNewer.binding(older))).to.deep.equal(older);
    });
  });

  it("convert an APIExport to v1alpha1 like kcp", () => {
    const virtual = { reference: { apiGroup: "x.dev", kind: "Slice", name: "s" }, identityHash: "h" };
    const { spec, metadata } = toOlder.export({
      apiVersion: "apis.kcp.io/v1alpha2",
      kind: "APIExport",
      metadata: { name: "a" },
      spec: {
        resources: [
          { group: "example.dev", name: "widgets", schema: "v1.widgets.example.dev", storage: { crd: {} } },
          { group: "", name: "gears", schema: "v1.gears.core", storage: { virtual } },
        ],
        permissionClaims: [
          { group: "", resource: "configmaps", identityHash: "", verbs: ["*"] },
          { group: "example.dev", resource: "cogs", identityHash: "x", verbs: ["get", "<>"] },
        ],
      },
    });
    expect(spec).to.deep.equal({
      latestResourceSchemas: ["v1.widgets.example.dev"],
      permissionClaims: [
        { group: "", resource: "configmaps" },
        { group: "example.dev", resource: "cogs", identityHash: "x" },
      ],
    });
    expect(metadata.annotations).to.deep.equal({
      "apis.v1alpha2.kcp.io/resource-schemas":
        '[{"name":"gears","group":"","schema":"v1.gears.core","storage":{"virtual":{"reference":' +
        '{"apiGroup":"x.dev","kind":"Slice","name":"s"},"identityHash":"h"}}}]',
      "apis.v1alpha2.kcp.io/permission-claims":
        '[{"group":"example.dev","resource":"cogs","verbs":["get","\\u003c\\u003e"],"identityHash":"x"}]',
    });
  });

  it("convert an APIExport of v1alpha1 to v1alpha2 like kcp", () => {
    const { spec, metadata } = toNewer.export({
      apiVersion: "apis.kcp.io/v1alpha1",
      kind: "APIExport",
      metadata: { name: "a" },
      spec: {
        latestResourceSchemas: ["v1.widgets.example.dev", "v1.gears.core"],
        permissionClaims: [{ group: "", resource: "secrets", resourceSelector: [{ name: "a" }], identityHash: "" }],
      },
    });
    expect(spec).to.deep.equal({
      resources: [
        { group: "example.dev", name: "widgets", schema: "v1.widgets.example.dev", storage: { crd: {} } },
        { group: "", name: "gears", schema: "v1.gears.core", storage: { crd: {} } },
      ],
      permissionClaims: [{ group: "", resource: "secrets", identityHash: "", verbs: ["*"] }],
    });
    expect(metadata.annotations).to.deep.equal({
      "apis.v1alpha2.kcp.io/v1alpha1-permission-claims": '[{"resource":"secrets","resourceSelector":[{"name":"a"}]}]',
    });
  });

  it("convert all and resourceSelector, which never limited anything, to matchAll", () => {
    const claims = [
      { resource: "configmaps", all: true, state: "Accepted" as const },
      { resource: "secrets", resourceSelector: [{ namespace: "n" }], state: "Rejected" as const },
    ];
    const older: APIBindingV1alpha1 = {
      apiVersion: "apis.kcp.io/v1alpha1",
      kind: "APIBinding",
      metadata: { name: "a" },
      spec: { reference: { export: { name: "x" } }, permissionClaims: claims },
    };
    const { spec, metadata } = toNewer.binding(older);
    expect(spec.permissionClaims?.map(({ selector, verbs }) => [selector, verbs])).to.deep.equal([
      [{ matchAll: true }, ["*"]],
      [{ matchAll: true }, ["*"]],
    ]);
    expect(metadata.annotations).to.deep.equal({
      "apis.v1alpha2.kcp.io/v1alpha1-permission-claims":
        '[{"resource":"secrets","resourceSelector":[{"namespace":"n"}],"state":"Rejected"}]',
    });
  });

  it("convert objects with any annotations for reads, and ignore planted ones", () => {
    const planted = JSON.stringify([{ resource: "configmaps", verbs: ["*"], selector: { matchAll: true }, all: "x" }]);
    for (const text of ["", "{", "null", "[1]", "{}", planted]) {
      const newer = randomBinding(new Random(7));
      const annotations = {
        "apis.v1alpha2.kcp.io/acceptable-permission-claims": text,
        "apis.v1alpha2.kcp.io/v1alpha1-permission-claims": text,
        "apis.v1alpha2.kcp.io/v1alpha1-status-applied-permission-claims": text,
      };
      const older = toOlder.binding({ ...newer, metadata: { ...newer.metadata, annotations } });
      expect(toNewer.binding(older)).to.deep.equal({ ...newer, metadata: toNewer.binding(older).metadata });
      expect(JSON.stringify(older.spec)).to.not.contain('"x"');
      expect(older.metadata.annotations).to.not.have.any.keys(...Object.keys(annotations).slice(1));
    }
  });

  it("reject annotations that cannot be parsed, since the claims would become unlimited", () => {
    const binding = randomOlderBinding(new Random(1));
    const name = "apis.v1alpha2.kcp.io/acceptable-permission-claims";
    const refused = () =>
      toNewer.binding({ ...binding, metadata: { ...binding.metadata, annotations: { [name]: "{" } } });
    expect(refused).to.throw(
      `APIBinding.apis.kcp.io "a" is invalid: metadata.annotations[${name}]: Invalid value: "{"`,
    );
    const object = { ...randomOlderExport(new Random(1)), spec: { latestResourceSchemas: ["v1.a.b", "widgets.v1"] } };
    expect(() => toNewer.export(object)).to.throw("spec.latestResourceSchemas[1]");
  });
});

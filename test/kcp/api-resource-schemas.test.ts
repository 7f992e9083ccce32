// Validation of APIResourceSchemas, with Kubernetes' and kcp's messages, and the resources that they describe.
import { formatCause, type JsonSchema } from "@virtual-workspaces/apimachinery";
import { allow, defineVirtualWorkspace, Resource } from "@virtual-workspaces/framework";
import type { APIResourceSchema } from "@virtual-workspaces/kcp";
import {
  apiResourceSchemaOf,
  apiResourceSchemaProblems,
  apiResourceSchemaUpdateProblems,
  boundCrdOf,
  type CustomResourceDefinitionLike,
  servedVersions,
} from "@virtual-workspaces/kcp/apis";
import { expect } from "chai";
import { startPlain } from "../_support/plain.ts";

type Spec = NonNullable<APIResourceSchema["spec"]>;
type Version = Spec["versions"][number];

const SCHEMA = {
  type: "object",
  properties: {
    apiVersion: { type: "string" },
    kind: { type: "string" },
    metadata: { type: "object" },
    spec: { type: "object", properties: { size: { type: "integer" }, colour: { type: "string" } } },
    status: { type: "object", properties: { size: { type: "integer" } } },
  },
};

const v1: Version = {
  name: "v1",
  served: true,
  storage: true,
  schema: SCHEMA,
  subresources: { status: {}, scale: { specReplicasPath: ".spec.size", statusReplicasPath: ".status.size" } },
  additionalPrinterColumns: [{ name: "Size", type: "integer", jsonPath: ".spec.size" }],
  selectableFields: [{ jsonPath: ".spec.colour" }],
};

function widgets(spec: Partial<Spec> = {}, name = "v1.widgets.example.dev"): APIResourceSchema {
  const names = { plural: "widgets", singular: "widget", kind: "Widget", listKind: "WidgetList" };
  return {
    apiVersion: "apis.kcp.io/v1alpha1",
    kind: "APIResourceSchema",
    metadata: { name, uid: "u1", annotations: { "kcp.io/cluster": "c1" } },
    spec: { group: "example.dev", names, scope: "Cluster", versions: [v1], ...spec },
  };
}

const said = (schema: APIResourceSchema): string[] => apiResourceSchemaProblems(schema).map(formatCause);
const version = (changes: Partial<Version>): APIResourceSchema => widgets({ versions: [{ ...v1, ...changes }] });

describe("APIResourceSchemas", () => {
  it("must have a name that ends with the resource", () => {
    expect(said(widgets())).to.deep.equal([]);
    expect(said(widgets({}, "widgets.example.dev"))).to.deep.equal([
      'metadata.name: Invalid value: "widgets.example.dev": must end in .widgets.example.dev',
    ]);
    for (const prefix of ["1", "a.b", "A", ""])
      expect(said(widgets({}, `${prefix}.widgets.example.dev`))[0]).to.contain(
        "must match ^[a-z]([-a-z0-9]*[a-z0-9])?$ in front of .widgets.example.dev",
      );
    expect(said(widgets({ group: "" }, "today.widgets.core"))).to.deep.equal([]);
  });

  it("must have a group that is a domain, and that is approved if it belongs to Kubernetes", () => {
    const of = (group: string) => said(widgets({ group }, `v1.widgets.${group}`));
    expect(of("core")).to.deep.equal(['spec.group: Invalid value: "core": must be empty string for the core group']);
    expect(of("mine")).to.deep.equal(['spec.group: Invalid value: "mine": should be a domain with at least one dot']);
    expect(of("apps")).to.deep.equal([]);
    expect(of("A.dev")[0]).to.contain('spec.group: Invalid value: "A.dev": a lowercase RFC 1123 subdomain');
    const approval = "metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must have";
    expect(of("x.k8s.io")[0]).to.contain(approval);
    expect(of("notk8s.io")).to.deep.equal([]);
    const annotated = (approved: string) => ({
      ...widgets({ group: "k8s.io" }, "v1.widgets.k8s.io"),
      metadata: { name: "v1.widgets.k8s.io", annotations: { "api-approved.kubernetes.io": approved } },
    });
    expect(said(annotated("unapproved, a test"))).to.deep.equal([]);
    expect(said(annotated("https://example.dev/1"))).to.deep.equal([]);
    expect(said(annotated("yes"))[0]).to.contain('with either a URL or a reason starting with "unapproved"');
  });

  it("must have valid resource names and exactly one storage version", () => {
    const names = { plural: "widgets", kind: "Widget", listKind: "Widget", shortNames: ["w", "W_"] };
    expect(said(widgets({ names })).map((text) => text.split(": ", 2).join(": "))).to.deep.equal([
      "spec.names.singular: Required value",
      "spec.names.listKind: Invalid value",
      "spec.names.shortNames[1]: Invalid value",
    ]);
    expect(said(widgets({ versions: [v1, { ...v1, storage: false }] }))).to.deep.equal([
      "spec.versions: Invalid value: must contain unique version names",
    ]);
    expect(said(version({ storage: false }))).to.deep.equal([
      "spec.versions: Invalid value: must have exactly one version marked as storage version",
    ]);
  });

  it("validates versions like those of CustomResourceDefinitions", () => {
    expect(said(version({ schema: {} }))).to.contain("spec.versions[0].schema: Required value");
    expect(said(version({ schema: { type: "object", properties: { spec: {} } }, selectableFields: [] }))).to.deep.equal(
      [
        "spec.versions[0].schema.openAPIV3Schema.properties[spec].type: Required value: must not be empty for specified object fields",
      ],
    );
    expect(said(version({ deprecationWarning: "old" }))).to.deep.equal([
      'spec.versions[0].deprecationWarning: Invalid value: "old": can only be set for deprecated versions',
    ]);
    expect(said(version({ deprecated: true, deprecationWarning: "é\u0007" }))).to.deep.equal([
      'spec.versions[0].deprecationWarning: Invalid value: "é\\a": must only contain printable UTF-8 characters; non-printable character found at index 2',
    ]);
    const scale = { specReplicasPath: "spec.size", statusReplicasPath: ".size", labelSelectorPath: ".a" };
    const path = "spec.versions[0].subresources.scale";
    expect(said(version({ subresources: { scale } }))).to.deep.equal([
      `${path}.specReplicasPath: Invalid value: "spec.size": must be a simple json path starting with .`,
      `${path}.statusReplicasPath: Invalid value: ".size": should be a json path under .status`,
      `${path}.labelSelectorPath: Invalid value: ".a": should be a json path under either .spec or .status`,
    ]);
    const column = { name: "", type: "text", format: "x", jsonPath: "spec" };
    expect(said(version({ additionalPrinterColumns: [column] })).map((text) => text.slice(44))).to.deep.equal([
      ".name: Required value",
      '.type: Invalid value: "text": must be one of boolean,date,integer,number,string',
      '.format: Invalid value: "x": must be one of byte,date,date-time,double,float,int32,int64,password',
      '.JSONPath: Invalid value: "spec": must be a simple json path starting with .',
    ]);
    const fields = [".spec.colour", ".spec.colour", ".spec", ".spec.x", ""].map((jsonPath) => ({ jsonPath }));
    expect(
      said(version({ selectableFields: fields })).map((text) => text.slice("spec.versions[0].".length)),
    ).to.deep.equal([
      'selectableFields[1].jsonPath: Duplicate value: ".spec.colour"',
      'selectableFields[2].jsonPath: Invalid value: ".spec": must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.',
      'selectableFields[3].jsonPath: Invalid value: ".spec.x": is an invalid path: does not refer to a valid field',
      "selectableFields[4].jsonPath: Required value",
    ]);
    const asked: [JsonSchema, object][] = [];
    const schemaProblems = (schema: JsonSchema, at: object): [] => {
      asked.push([schema, at]);
      return [];
    };
    apiResourceSchemaProblems(widgets(), { schemaProblems });
    expect(asked).to.deep.equal([
      [SCHEMA, { path: "spec.versions[0].schema.openAPIV3Schema", statusSubresource: true }],
    ]);
  });

  it("are immutable", () => {
    const relabelled = { ...widgets(), metadata: { ...widgets().metadata, labels: { a: "b" } } };
    expect(apiResourceSchemaUpdateProblems(relabelled, widgets())).to.deep.equal([]);
    const changed = apiResourceSchemaUpdateProblems(widgets({ scope: "Namespaced" }), widgets());
    expect(changed.map(formatCause)).to.deep.equal(["spec: Invalid value: is immutable"]);
  });

  it("stay accepted while only their metadata changes", () => {
    const old = widgets({ names: { ...widgets().spec?.names, kind: "not a kind" } as Spec["names"] });
    expect(said(old)).to.have.length.above(0);
    expect(
      apiResourceSchemaUpdateProblems({ ...old, metadata: { ...old.metadata, labels: { a: "b" } } }, old),
    ).to.deep.equal([]);
    const group = "things.k8s.io";
    const approved = widgets({ group });
    const notes = { "api-approved.kubernetes.io": "no" };
    const causes = apiResourceSchemaUpdateProblems(
      { ...approved, metadata: { ...approved.metadata, annotations: notes } },
      approved,
    );
    expect(causes.map(formatCause).join("\n")).to.match(/metadata\.annotations\[api-approved\.kubernetes\.io\]/);
  });

  it("can be created from CustomResourceDefinitions, and give equal ones where they are bound", () => {
    const { schema, ...rest } = v1;
    const conversion = {
      strategy: "Webhook" as const,
      webhook: { clientConfig: { url: "https://x.dev", caBundle: "YQ==" }, conversionReviewVersions: ["v1"] },
    };
    const crd: CustomResourceDefinitionLike = {
      metadata: { name: "widgets.example.dev" },
      spec: {
        group: "example.dev",
        names: { plural: "widgets", singular: "widget", kind: "Widget", listKind: "WidgetList" },
        scope: "Cluster",
        versions: [
          { ...rest, schema: { openAPIV3Schema: schema as JsonSchema } },
          { name: "v2", served: true, storage: false, schema: { openAPIV3Schema: schema as JsonSchema } },
        ],
        conversion,
      },
    };
    const made = apiResourceSchemaOf(crd, "today");
    expect(made.metadata).to.deep.equal({ name: "today.widgets.example.dev" });
    expect(said(made)).to.deep.equal([]);
    expect(made.spec?.conversion).to.deep.equal(conversion);
    const bound = boundCrdOf({ ...made, metadata: { ...widgets().metadata, name: "today.widgets.example.dev" } });
    expect(bound.spec).to.deep.equal(crd.spec);
    expect(bound.metadata).to.deep.equal({
      name: "u1",
      annotations: {
        "kcp.io/cluster": "system:bound-crds",
        "apis.kcp.io/bound-crd": "",
        "apis.kcp.io/schema-cluster": "c1",
        "apis.kcp.io/schema-name": "today.widgets.example.dev",
      },
    });
    const single = boundCrdOf(widgets({ conversion: { strategy: "None" } }));
    expect(single.spec).to.not.have.property("conversion");
    expect(() => boundCrdOf(widgets({ versions: [v1, { ...v1, name: "v2" }] }))).to.throw(
      "several versions, so set spec.conversion",
    );
    const { conversion: _conversion, ...unconverted } = crd.spec;
    expect(() => apiResourceSchemaOf({ ...crd, spec: unconverted }, "a")).to.throw("spec.conversion: Required value");
    expect(() => apiResourceSchemaOf(crd, "A")).to.throw("metadata.name");
    const service = { ...conversion, webhook: { ...conversion.webhook, clientConfig: { service: {} } } };
    expect(() => apiResourceSchemaOf({ ...crd, spec: { ...crd.spec, conversion: service } }, "a")).to.throw("use url");
  });

  it("contain everything that a server needs to serve the resource", async () => {
    const old: Version = { name: "v1beta1", served: true, storage: false, deprecated: true, schema: SCHEMA };
    const unserved: Version = { ...old, name: "v1alpha1", served: false };
    const versions = servedVersions(widgets({ versions: [v1, old, unserved], conversion: { strategy: "None" } }));
    expect(versions.map(({ version, storage, warning }) => [version, storage, warning])).to.deep.equal([
      ["v1", true, undefined],
      ["v1beta1", false, "example.dev/v1beta1 Widget is deprecated; use example.dev/v1 Widget"],
    ]);
    const [{ columns, ...parts }] = versions as [(typeof versions)[number]];
    const kind = new Resource({
      ...parts,
      columns: Object.fromEntries(columns.map((column) => [column.name, column])),
    });
    await using server = await startPlain([
      defineVirtualWorkspace({
        name: "w",
        path: "/clusters/:cluster",
        authorize: () => allow(),
        resources: [kind.serve(kind.collection())],
      }),
    ]);
    const path = "/services/w/clusters/root/apis/example.dev/v1/widgets";
    const widget = { apiVersion: "example.dev/v1", kind: "Widget", metadata: { name: "a" } };
    const created = await server.send(`POST ${path}`, { ...widget, spec: { size: 3, colour: "red", other: 1 } });
    expect([created.status, created.body.spec]).to.deep.equal([201, { size: 3, colour: "red" }]);
    expect((await server.get(`${path}/a/scale`)).body.spec).to.deep.equal({ replicas: 3 });
    expect((await server.get(`${path}?fieldSelector=spec.colour%3Dblue`)).body.items).to.deep.equal([]);
    const table = await server.get(path, { headers: { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" } });
    expect(table.body.rows[0].cells.slice(0, 2)).to.deep.equal(["a", 3]);
  });
});

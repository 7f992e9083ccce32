import { expect } from "chai";
import { groupVersionDocument, v3Documents } from "../../packages/framework/src/discovery/openapi/v3.ts";
import { ALL, Author, ConfigMap, EVERYTHING, Everything, OldQuote, Quote, READ, served } from "./openapi-fixtures.ts";

type Json = { readonly [key: string]: Json } & readonly Json[] & string;

/** The document as clients get it. */
function json(document: unknown): Json {
  return JSON.parse(JSON.stringify(document)) as Json;
}

function referencesIn(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, one]) => (key === "$ref" ? [String(one)] : referencesIn(one)));
}

const META = "io.k8s.apimachinery.pkg.apis.meta.v1";
const METHODS = ["get", "put", "post", "delete", "patch"];

/** `GET /path` and the action of every operation. */
function operations(document: Json): string[] {
  return Object.entries(document["paths"] ?? {}).flatMap(([path, item]) =>
    Object.entries(item as Json)
      .filter(([method]) => METHODS.includes(method))
      .map(([method, operation]) => `${method} ${path} ${operation["x-kubernetes-action"] ?? ""}`.trim()),
  );
}

describe("OpenAPI v3, every document", () => {
  for (const [name, { make }] of Object.entries(v3Documents(EVERYTHING))) {
    describe(name, () => {
      const document = json(make());
      const schemas = document["components"]?.["schemas"] as Json;

      it("states its version", () => {
        expect(document["openapi"]).to.equal("3.0.0");
        expect(document["info"]).to.have.keys("title", "version");
      });

      it("has a component for each reference, and no unused one", () => {
        const names = referencesIn(document).map((reference) => /^#\/components\/schemas\/(.+)$/.exec(reference)?.[1]);
        expect([...new Set(names)].sort()).to.deep.equal(Object.keys(schemas));
      });

      it("has nothing beside a $ref", () => {
        const visit = (value: unknown): void => {
          if (typeof value !== "object" || value === null) return;
          if ("$ref" in value) expect(value).to.have.all.keys("$ref");
          for (const one of Object.values(value)) visit(one);
        };
        visit(document);
      });

      it("has an id of its own for each operation, a 200, and the path's parameters", () => {
        const ids: string[] = [];
        for (const [path, item] of Object.entries(document["paths"] as Json)) {
          const declared = ((item["parameters"] ?? []) as Json).map((one: Json) => `{${one["name"]}}`);
          expect(declared.sort(), path).to.deep.equal((path.match(/\{\w+\}/g) ?? []).sort());
          for (const method of METHODS) {
            const operation = item[method];
            if (operation === undefined) continue;
            ids.push(operation["operationId"] as Json);
            expect(operation["responses"]).to.include.keys("200", "401");
          }
        }
        expect(new Set(ids).size).to.equal(ids.length);
      });
    });
  }
});

describe("OpenAPI v3, documents of a view", () => {
  it("are those of Kubernetes: roots, groups, group versions", () => {
    expect(Object.keys(v3Documents(EVERYTHING)).sort()).to.deep.equal([
      "api",
      "api/v1",
      "apis",
      "apis/all.example.dev",
      "apis/all.example.dev/v1alpha1",
      "apis/example.dev",
      "apis/example.dev/v1",
      "apis/example.dev/v1beta2",
      "version",
    ]);
    expect(Object.keys(v3Documents([]))).to.deep.equal(["api", "apis", "version"]);
  });

  it("are small for a root", () => {
    const document = json(v3Documents([])["api"]?.make());
    expect(document["paths"]).to.deep.equal({
      "/api/": {
        get: {
          tags: ["core"],
          description: "get available API versions",
          operationId: "getCoreAPIVersions",
          responses: {
            "200": {
              description: "OK",
              content: { "application/json": { schema: { $ref: `#/components/schemas/${META}.APIVersions` } } },
            },
            "401": { description: "Unauthorized" },
          },
        },
      },
    });
    const schemas = document["components"]?.["schemas"] as Json;
    expect(Object.keys(schemas)).to.deep.equal([`${META}.APIVersions`, `${META}.ServerAddressByClientCIDR`]);
  });
});

describe("OpenAPI v3, operations", () => {
  const root = "/apis/example.dev/v1";

  it("exist for a cluster-scoped kind", () => {
    expect(operations(json(groupVersionDocument([served(Quote, ALL)])))).to.have.members([
      `get ${root}/`,
      `get ${root}/quotes list`,
      `post ${root}/quotes post`,
      `delete ${root}/quotes deletecollection`,
      `get ${root}/quotes/{name} get`,
      `put ${root}/quotes/{name} put`,
      `patch ${root}/quotes/{name} patch`,
      `delete ${root}/quotes/{name} delete`,
    ]);
  });

  it("exist for a namespaced kind, with a list over all namespaces", () => {
    const within = `${root}/namespaces/{namespace}/authors`;
    expect(operations(json(groupVersionDocument([served(Author, READ)])))).to.have.members([
      `get ${root}/`,
      `get ${root}/authors list`,
      `get ${within} list`,
      `get ${within}/{name} get`,
    ]);
  });

  it("exist for the core group", () => {
    expect(operations(json(groupVersionDocument([served(ConfigMap, ["get"])])))).to.have.members([
      "get /api/v1/",
      "get /api/v1/namespaces/{namespace}/configmaps/{name} get",
    ]);
  });

  it("match the verbs exactly", () => {
    const actions: Record<string, string> = {
      create: "post",
      delete: "delete",
      deletecollection: "deletecollection",
      get: "get",
      list: "list",
      patch: "patch",
      update: "put",
      watch: "watch",
    };
    for (const verb of ALL) {
      const [, ...found] = operations(json(groupVersionDocument([served(Quote, [verb])])));
      expect(
        found.map((one) => one.split(" ").at(-1)),
        verb,
      ).to.deep.equal([actions[verb]]);
    }
  });

  it("have a watch as parameters of the list, and its events as a response", () => {
    const list = (verbs: typeof READ): Json =>
      json(groupVersionDocument([served(Quote, verbs)]))["paths"]?.[`${root}/quotes`]?.["get"] as Json;
    const names = (operation: Json): unknown[] => (operation["parameters"] as Json).map((one: Json) => one["name"]);
    const plain = ["continue", "fieldSelector", "labelSelector", "limit", "resourceVersion", "resourceVersionMatch"];
    expect(names(list(["list"]))).to.deep.equal([...plain, "shardSelector", "timeoutSeconds"]);
    expect(names(list(READ))).to.deep.equal([
      "allowWatchBookmarks",
      ...plain,
      "sendInitialEvents",
      "shardSelector",
      "timeoutSeconds",
      "watch",
    ]);
    expect(list(["list"])["responses"]?.["200"]?.["content"]).to.have.keys("application/json", "application/yaml");
    expect(list(READ)["responses"]?.["200"]?.["content"]?.["application/json;stream=watch"]?.["schema"]).to.deep.equal({
      $ref: `#/components/schemas/${META}.WatchEvent`,
    });
  });

  it("are named as in Kubernetes", () => {
    const document = json(groupVersionDocument([served(Everything, ALL)]));
    const ids = Object.values(document["paths"] as Json).flatMap((item: Json) =>
      METHODS.flatMap((method) => (item[method] === undefined ? [] : [item[method]["operationId"]])),
    );
    expect(ids).to.have.members([
      "getAllExampleDevV1alpha1APIResources",
      "listAllExampleDevV1alpha1EverythingForAllNamespaces",
      "listAllExampleDevV1alpha1NamespacedEverything",
      "createAllExampleDevV1alpha1NamespacedEverything",
      "deleteAllExampleDevV1alpha1CollectionNamespacedEverything",
      "readAllExampleDevV1alpha1NamespacedEverything",
      "replaceAllExampleDevV1alpha1NamespacedEverything",
      "patchAllExampleDevV1alpha1NamespacedEverything",
      "deleteAllExampleDevV1alpha1NamespacedEverything",
    ]);
    const list = document["paths"]?.["/apis/all.example.dev/v1alpha1/everythings"]?.["get"];
    expect(list).to.deep.include({
      tags: ["allExampleDev_v1alpha1"],
      description: "list objects of kind Everything",
      "x-kubernetes-group-version-kind": { group: "all.example.dev", version: "v1alpha1", kind: "Everything" },
    });
  });

  it("are named without the suffix of Kubernetes' own groups", () => {
    const role = { ...Quote, group: "rbac.authorization.k8s.io", plural: "roles", kind: "Role" };
    const { paths } = json(groupVersionDocument([served(role)])) as Readonly<Record<string, Json>>;
    const get = paths?.["/apis/rbac.authorization.k8s.io/v1/roles"]?.["get"];
    expect(get).to.include({ operationId: "listRbacAuthorizationV1Role" });
    expect(get?.["tags"]).to.deep.equal(["rbacAuthorization_v1"]);
  });

  it("have unique ids when one kind is served under two names", () => {
    const twin = { ...Quote, plural: "sayings", hash: "other" };
    const ids =
      JSON.stringify(groupVersionDocument([served(Quote), served(twin)])).match(/"operationId":"[^"]+"/g) ?? [];
    expect(new Set(ids).size).to.equal(ids.length);
    expect(ids).to.include('"operationId":"listExampleDevV1Sayings"');
  });
});

describe("OpenAPI v3, schemas", () => {
  const schemas = json(groupVersionDocument([served(Quote, ALL), served(Author)]))["components"]?.["schemas"] as Json;
  const ref = (name: string): object => ({ $ref: `#/components/schemas/${name}` });

  it("of a kind are its own, with the three properties of every object", () => {
    const { properties, ...rest } = schemas["dev.example.v1.Quote"] as Readonly<Record<string, Json>>;
    expect(rest).to.deep.equal({
      type: "object",
      description: "Something somebody said.",
      required: ["spec"],
      "x-kubernetes-group-version-kind": [{ group: "example.dev", version: "v1", kind: "Quote" }],
      "x-kubernetes-selectable-fields": [{ fieldPath: "spec.author" }],
    });
    expect(properties).to.have.all.keys("apiVersion", "kind", "metadata", "spec");
    expect(properties?.["metadata"]?.["allOf"]).to.deep.equal([ref(`${META}.ObjectMeta`)]);
    expect(properties?.["spec"]).to.deep.equal(Quote.schema.properties?.["spec"]);
  });

  it("of a kind cannot override those three", () => {
    const own = { ...Quote, schema: { type: "object", properties: { metadata: { type: "string" } } } } as const;
    const document = json(groupVersionDocument([served(own)]));
    const kind = document["components"]?.["schemas"]?.["dev.example.v1.Quote"];
    expect(kind?.["properties"]?.["metadata"]).to.have.all.keys("allOf", "description");
  });

  it("of a list refer to the kind", () => {
    const list = schemas["dev.example.v1.QuoteList"] as Json;
    expect(list["required"]).to.deep.equal(["items"]);
    expect(list["properties"]?.["items"]?.["items"]).to.deep.equal(ref("dev.example.v1.Quote"));
    expect(list["x-kubernetes-group-version-kind"]).to.deep.equal([
      { group: "example.dev", version: "v1", kind: "QuoteList" },
    ]);
  });

  it("of the core group are named as in Kubernetes", () => {
    const core = json(groupVersionDocument([served(ConfigMap)]))["components"]?.["schemas"];
    expect(core).to.include.keys("io.k8s.api.core.v1.ConfigMap", "io.k8s.api.core.v1.ConfigMapList");
  });

  it("describe every field of metadata", () => {
    for (const kind of ["ObjectMeta", "OwnerReference", "ManagedFieldsEntry", "ListMeta", "DeleteOptions", "Status"]) {
      const properties = Object.entries(schemas[`${META}.${kind}`]?.["properties"] as Json);
      for (const [name, schema] of properties) expect(schema["description"], `${kind}.${name}`).to.be.a("string");
    }
    const fields =
      "annotations creationTimestamp deletionGracePeriodSeconds deletionTimestamp finalizers generateName generation labels " +
      "managedFields name namespace ownerReferences resourceVersion selfLink uid";
    expect(schemas[`${META}.ObjectMeta`]?.["properties"]).to.have.all.keys(fields.split(" "));
  });

  it("name the group versions of options and events", () => {
    const kinds = (name: string): unknown => schemas[`${META}.${name}`]?.["x-kubernetes-group-version-kind"];
    for (const kind of ["DeleteOptions", "WatchEvent"])
      expect(kinds(kind)).to.deep.equal([
        { group: "", version: "v1", kind },
        { group: "example.dev", version: "v1", kind },
      ]);
    expect(kinds("Status")).to.deep.equal([{ group: "", version: "v1", kind: "Status" }]);
  });

  it("of a kind exist even without an operation that returns it", () => {
    const watched = json(groupVersionDocument([served(Quote, ["watch"])]))["components"]?.["schemas"] as Json;
    expect(watched).to.include.keys("dev.example.v1.Quote");
    expect(watched).not.to.have.property("dev.example.v1.QuoteList");
  });

  it("keep Kubernetes' extensions of JSON schema, and spell out int-or-string", () => {
    const document = json(groupVersionDocument([served(Everything)]));
    const properties = document["components"]?.["schemas"]?.["dev.example.all.v1alpha1.Everything"]?.[
      "properties"
    ] as Json;
    expect(properties["list"]).to.include({ "x-kubernetes-list-type": "map" });
    expect(properties["ruled"]).to.deep.equal(Everything.schema.properties?.["ruled"]);
    expect(properties["maybe"]).to.include({ nullable: true });
    expect(properties["port"]?.["anyOf"]).to.deep.equal([{ type: "integer" }, { type: "string" }]);
    expect(properties["embedded"]?.["properties"]).to.have.all.keys("apiVersion", "kind", "metadata", "spec");
    expect(properties["embedded"]?.["required"]).to.deep.equal(["apiVersion", "kind"]);
  });

  it("keep the versions of a kind apart", () => {
    const old = json(groupVersionDocument([served(OldQuote)]))["components"]?.["schemas"] as Json;
    expect(old["dev.example.v1beta2.Quote"]?.["properties"]).to.have.all.keys("apiVersion", "kind", "metadata", "text");
    expect(old).not.to.have.property("dev.example.v1.Quote");
  });
});

// Discovery and OpenAPI advertise exactly the subresources that are served.
import { defineResource, type ServedResource, type Verb } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { DiscoveryDocuments } from "../../packages/framework/src/discovery/discovery-documents.ts";
import { swaggerDocument } from "../../packages/framework/src/discovery/openapi/v2.ts";
import { encodeSwagger } from "../../packages/framework/src/discovery/openapi/v2-protobuf.ts";
import { groupVersionDocument } from "../../packages/framework/src/discovery/openapi/v3.ts";
import { startPlain } from "../_support/plain.ts";
import { MACHINES, Machine, machinesView } from "./machine-fixtures.ts";

const Approval = defineResource({
  group: "approval.dev",
  version: "v2",
  kind: "Approval",
  scope: "Namespaced",
  description: "Somebody agrees.",
  spec: { type: "object", properties: { by: { type: "string" } } },
});

const subresources = {
  approve: { kind: Approval, get: () => ({ spec: {} }), create: () => undefined },
  exec: { methods: ["POST", "GET"], upgrade: () => undefined },
  log: { connect: (_req: unknown, res: { end(): void }) => res.end() },
} as const;

const machines = Machine.collection();
machines.in("root", "ns").set("m", { replicas: 1 });
const SERVED = Machine.serve(machines, { subresources });

const ROOT = "/services/machines/clusters/root";
const AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

describe("discovery of subresources", () => {
  it("lists them after their resource, with their verbs, and a foreign kind with its group", async () => {
    await using server = await startPlain([machinesView([SERVED])]);
    const { resources } = (await server.get(`${ROOT}/apis/example.dev/v1`)).body;
    const own = { singularName: "", namespaced: true };
    const part = ["get", "patch", "update"];
    expect(resources.slice(1)).to.deep.equal([
      {
        name: "machines/approve",
        ...own,
        group: "approval.dev",
        version: "v2",
        kind: "Approval",
        verbs: ["create", "get"],
      },
      { name: "machines/exec", ...own, kind: "Machine", verbs: ["create", "get"] },
      { name: "machines/log", ...own, kind: "Machine", verbs: ["get"] },
      { name: "machines/scale", ...own, group: "autoscaling", version: "v1", kind: "Scale", verbs: part },
      { name: "machines/status", ...own, kind: "Machine", verbs: part },
    ]);
    const { items } = (await server.get(`${ROOT}/apis`, { headers: { accept: AGGREGATED } })).body;
    const responseKind = { group: "example.dev", version: "v1", kind: "Machine" };
    expect(items[0].versions[0].resources[0].subresources).to.deep.equal([
      {
        subresource: "approve",
        responseKind: { group: "approval.dev", version: "v2", kind: "Approval" },
        verbs: ["create", "get"],
      },
      { subresource: "exec", responseKind, verbs: ["create", "get"] },
      { subresource: "log", responseKind, verbs: ["get"] },
      { subresource: "scale", responseKind: { group: "autoscaling", version: "v1", kind: "Scale" }, verbs: part },
      { subresource: "status", responseKind, verbs: part },
    ]);
  });

  const METHODS = { create: "POST", delete: "DELETE", get: "GET", patch: "PATCH", update: "PUT" } as const;
  const servings: Readonly<Record<string, ServedResource>> = {
    "all that there is": SERVED,
    "what is read": Machine.serve(machines, { verbs: ["get", "list", "watch"], subresources }),
    "nothing but lists": Machine.serve(machines, { verbs: ["list"] }),
    "patches without updates": Machine.serve(machines, { verbs: ["patch"] }),
  };
  for (const [name, resource] of Object.entries(servings))
    it(`advertises exactly the served verbs: ${name}`, async () => {
      await using server = await startPlain([machinesView([resource])]);
      const { resources } = (await server.get(`${ROOT}/apis/example.dev/v1`)).body;
      const told = new Map<string, string[]>();
      for (const one of resources as { name: string; verbs: string[] }[]) told.set(one.name, one.verbs);
      for (const part of ["approve", "exec", "log", "scale", "status", "other"]) {
        const verbs = told.get(`machines/${part}`);
        for (const [verb, method] of Object.entries(METHODS)) {
          const { status } = await server.send(`${method} ${MACHINES}/m/${part}`, {});
          if (verbs === undefined) expect(status, `${verb} ${part}`).to.equal(404);
          else expect(status === 405, `${verb} ${part}: ${status}`).to.equal(!verbs.includes(verb));
        }
      }
    });

  it("changes, with its ETags, only when the subresources change", () => {
    const documents = new DiscoveryDocuments();
    const etag = (resource: ServedResource): string => {
      const found = documents.answer({ path: "/apis/example.dev/v1", accept: undefined }, [resource]);
      return found.kind === "document" ? found.etag : found.kind;
    };
    const { log, exec, approve } = subresources;
    const serve = (named: object): ServedResource => Machine.serve(machines, { subresources: named } as object);
    const etags = [{}, { log }, { exec: log }, { log: { ...log, methods: ["GET", "POST"] } }, { log: approve }].map(
      (one) => etag(serve(one)),
    );
    expect(new Set(etags).size).to.equal(5);
    expect(etag(serve({ log, exec }))).to.equal(etag(serve({ exec, log: { ...log } })));
  });
});

// biome-ignore lint/suspicious/noExplicitAny: documents of tests
type Json = any;

const V3: Json = JSON.parse(JSON.stringify(groupVersionDocument([SERVED])));
const V2: Json = JSON.parse(JSON.stringify(swaggerDocument([SERVED])));
const OBJECT = "/apis/example.dev/v1/namespaces/{namespace}/machines/{name}";

/** Returns `get read… action: parameters`, by path below the object. */
function operations(document: Json): string[] {
  const paths = Object.entries<Json>(document.paths).filter(([path]) => path.startsWith(`${OBJECT}/`));
  return paths.flatMap(([path, { parameters, ...item }]) =>
    Object.entries<Json>(item).map(([method, operation]) => {
      const names = (operation.parameters ?? [])
        .map(({ name }: { name: string }) => name)
        .filter((one: string) => one !== "body");
      const { operationId, "x-kubernetes-action": action } = operation;
      return `${method} ${path.slice(OBJECT.length)} ${operationId} ${action}: ${names.join(" ")}`.trim();
    }),
  );
}

const WRITING = "dryRun fieldManager fieldValidation";
const OPERATIONS = [
  `post /approve createExampleDevV1NamespacedMachineApprove post: ${WRITING}`,
  "get /approve readExampleDevV1NamespacedMachineApprove get:",
  "post /exec connectExampleDevV1PostNamespacedMachineExec connect:",
  "get /exec connectExampleDevV1GetNamespacedMachineExec connect:",
  "get /log connectExampleDevV1GetNamespacedMachineLog connect:",
  "get /scale readExampleDevV1NamespacedMachineScale get: resourceVersion",
  `patch /scale patchExampleDevV1NamespacedMachineScale patch: ${WRITING} force`,
  `put /scale replaceExampleDevV1NamespacedMachineScale put: ${WRITING}`,
  "get /status readExampleDevV1NamespacedMachineStatus get: resourceVersion",
  `patch /status patchExampleDevV1NamespacedMachineStatus patch: ${WRITING} force`,
  `put /status replaceExampleDevV1NamespacedMachineStatus put: ${WRITING}`,
];

describe("OpenAPI of subresources", () => {
  for (const [name, document] of [
    ["v3", V3],
    ["v2", V2],
  ] as const)
    it(`has the operations of their verbs, with the parameters of each: ${name}`, () => {
      expect(operations(document)).to.have.members(OPERATIONS);
      expect(document.paths[`${OBJECT}/scale`].parameters.map(({ name }: Json) => name)).to.have.members([
        "name",
        "namespace",
      ]);
    });

  it("describes in v3 the body and the response of each", () => {
    const ref = (component: string) => ({ schema: { $ref: `#/components/schemas/${component}` } });
    const both = (component: string) => ({ "application/json": ref(component), "application/yaml": ref(component) });
    const scale = V3.paths[`${OBJECT}/scale`];
    expect(scale.put.requestBody.content).to.deep.equal(both("io.k8s.api.autoscaling.v1.Scale"));
    expect(scale.put.responses["200"].content).to.deep.equal(both("io.k8s.api.autoscaling.v1.Scale"));
    expect(Object.keys(scale.patch.requestBody.content)).to.deep.equal([
      "application/apply-patch+yaml",
      "application/json-patch+json",
      "application/merge-patch+json",
    ]);
    expect(scale.get).to.deep.include({
      description: "read scale of the specified Machine",
      "x-kubernetes-group-version-kind": { group: "example.dev", version: "v1", kind: "Machine" },
    });
    const approve = V3.paths[`${OBJECT}/approve`].post;
    expect(Object.keys(approve.responses)).to.deep.equal(["201", "401"]);
    expect(approve.responses["201"].content).to.deep.equal(both("dev.approval.v2.Approval"));
    expect(approve["x-kubernetes-group-version-kind"]).to.deep.equal({
      group: "approval.dev",
      version: "v2",
      kind: "Approval",
    });
    expect(V3.paths[`${OBJECT}/log`].get.responses["200"].content).to.deep.equal({
      "*/*": { schema: { type: "string" } },
    });
    expect(V3.components.schemas["dev.approval.v2.Approval"].description).to.equal("Somebody agrees.");
  });

  it("describes the same in v2, which protobuf can express too", () => {
    const { put, patch } = V2.paths[`${OBJECT}/scale`];
    const ref = { $ref: "#/definitions/io.k8s.api.autoscaling.v1.Scale" };
    expect([put.responses["200"].schema, put.parameters.at(-1).schema]).to.deep.equal([ref, ref]);
    expect(patch.consumes).to.include("application/apply-patch+yaml");
    expect(V2.paths[`${OBJECT}/log`].get).to.deep.include({ produces: ["*/*"] });
    expect(V2.paths[`${OBJECT}/log`].get.responses["200"].schema).to.deep.equal({ type: "string" });
    expect(V2.definitions["io.k8s.api.autoscaling.v1.Scale"].properties).to.have.keys(
      "apiVersion",
      "kind",
      "metadata",
      "spec",
      "status",
    );
    expect(encodeSwagger(swaggerDocument([SERVED])).includes("connectExampleDevV1GetNamespacedMachineLog")).to.equal(
      true,
    );
  });

  it("leaves out what is not served", () => {
    const verbs: readonly Verb[] = ["list"];
    const document = JSON.stringify(groupVersionDocument([Machine.serve(machines, { verbs })]));
    expect(document).not.to.include("{name}").and.not.to.include("autoscaling");
  });
});

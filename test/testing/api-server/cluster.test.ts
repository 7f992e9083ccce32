// A test server as one Kubernetes cluster at its URL, for client-node and for our own client.
import * as k8s from "@kubernetes/client-node";
import { allow, defineVirtualWorkspace, deny } from "@virtual-workspaces/framework";
import { startTestServer } from "@virtual-workspaces/testing";
import { expect } from "chai";
import { Note } from "../../_support/note.ts";
import { until } from "../../_support/until.ts";
import { customObjects, kubeConfig, NAMESPACE, names, WIDGET, WIDGETS, widget, widgetCrd } from "./support/widgets.ts";

const READER = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: reader
rules:
  - apiGroups: [example.dev]
    resources: [widgets]
    verbs: [get, list, watch]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: reader
  namespace: default
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: reader }
subjects:
  - { apiGroup: rbac.authorization.k8s.io, kind: Group, name: readers }
`;

describe("a test server with one cluster", () => {
  it("serves a cluster with Kubernetes' namespaces at its URL", async () => {
    await using server = await startTestServer();
    expect(server.url).to.match(/^https:\/\/127\.0\.0\.1:\d+$/);
    const core = kubeConfig(server).makeApiClient(k8s.CoreV1Api);
    const { items } = await core.listNamespace();
    expect(items.map(({ metadata }) => metadata?.name)).to.have.members([
      "default",
      "kube-node-lease",
      "kube-public",
      "kube-system",
    ]);
    const { body } = await fetchText(server, "/readyz");
    expect(body).to.equal("ok");
  });

  it("has its CRDs and objects when it has started, with their status", async () => {
    await using server = await startTestServer({
      crds: [widgetCrd],
      objects: [
        widget("a", { metadata: { name: "a", namespace: "shop" }, status: { ready: true } }),
        namespace("shop"),
      ],
    });
    const found = await customObjects(server).getNamespacedCustomObject({ ...WIDGETS, namespace: "shop", name: "a" });
    expect(found.status).to.deep.equal({ ready: true });
  });

  it("validates and defaults custom resources, with CEL rules", async () => {
    await using server = await startTestServer({ crds: [widgetCrd] });
    const widgets = customObjects(server);
    const made = await widgets.createNamespacedCustomObject({ ...WIDGETS, body: widget("a", { spec: {} }) });
    expect(made.spec).to.deep.equal({ size: 1 });
    const rejected = await failure(
      widgets.createNamespacedCustomObject({ ...WIDGETS, body: widget("b", { spec: { size: 100 } }) }),
    );
    expect(rejected).to.deep.include({ code: 422 });
    expect(String(rejected)).to.contain("too big");
  });

  it("accepts Kubernetes' own kinds without a type, as typed clients send them, and custom ones only with it", async () => {
    await using server = await startTestServer({ crds: [widgetCrd] });
    const core = kubeConfig(server).makeApiClient(k8s.CoreV1Api);
    const made = await core.createNamespace({ body: { metadata: { name: "shop" } } });
    expect([made.apiVersion, made.kind]).to.deep.equal(["v1", "Namespace"]);
    const map = { metadata: { name: "colors" }, data: { door: "green" } };
    await core.createNamespacedConfigMap({ namespace: "shop", body: map });
    const put = { metadata: { name: "colors" }, data: { door: "red" } };
    expect(
      (await core.replaceNamespacedConfigMap({ namespace: "shop", name: "colors", body: put })).data,
    ).to.deep.equal(put.data);
    const body = { metadata: { name: "a" } };
    expect(await failure(customObjects(server).createNamespacedCustomObject({ ...WIDGETS, body }))).to.include({
      code: 400,
    });
    const wrong = failure(core.createNamespace({ body: { kind: "Pod", metadata: { name: "x" } } }));
    expect(await wrong).to.include({ code: 400 });
  });

  it("gives each user the rights of roles among the objects, and no others", async () => {
    await using server = await startTestServer({
      crds: [widgetCrd],
      objects: READER,
      users: { ann: { groups: ["readers"] }, bob: {} },
    });
    const [ann, bob] = [customObjects(server, "ann"), customObjects(server, "bob")];
    expect((await ann.listNamespacedCustomObject(WIDGETS)).items).to.deep.equal([]);
    expect(await failure(ann.createNamespacedCustomObject({ ...WIDGETS, body: widget("a") }))).to.include({
      code: 403,
    });
    expect(await failure(bob.listNamespacedCustomObject(WIDGETS))).to.include({ code: 403 });
    expect(await server.user("ann").client.resource(WIDGET).in("default").list()).to.have.property("items").that.is
      .empty;
  });

  it("rejects requests without a token, or with one of another server", async () => {
    await using server = await startTestServer();
    await using other = await startTestServer();
    expect((await fetchText(server, "/api/v1/namespaces", "")).status).to.equal(401);
    expect((await fetchText(server, "/api/v1/namespaces", other.admin.token)).status).to.equal(401);
  });

  it("collects garbage, and deletes namespaces with their objects", async () => {
    await using server = await startTestServer({ crds: [widgetCrd], objects: [namespace("shop")] });
    const widgets = server.client.resource(WIDGET);
    const { metadata } = await widgets.in("default").create(widget("owner"));
    await widgets.in("default").create({
      ...widget("owned"),
      metadata: {
        name: "owned",
        ownerReferences: [{ apiVersion: "example.dev/v1", kind: "Widget", name: "owner", uid: metadata.uid ?? "" }],
      },
    });
    await widgets.in("default").delete("owner");
    await until(async () => (await names(server)).length === 0);
    await widgets.in("shop").create({ ...widget("inside"), metadata: { name: "inside" } });
    const namespaces = server.client.resource(NAMESPACE);
    await namespaces.delete("shop");
    await until(async () => (await namespaces.list()).items.length === 4);
    expect((await widgets.all()).items).to.deep.equal([]);
  });

  it("serves plain HTTP without TLS", async () => {
    await using server = await startTestServer({ tls: false });
    expect(server.url).to.match(/^http:/);
    expect(server.ca).to.equal(undefined);
    const { items } = await kubeConfig(server).makeApiClient(k8s.CoreV1Api).listNamespace();
    expect(items).to.have.length(4);
  });

  it("has a tree of workspaces with workspaces, and starts it over with reset", async () => {
    await using server = await startTestServer({ workspaces: ["root:org", "root:org:team"], crds: [widgetCrd] });
    expect(server.kubeconfig).to.contain(`${server.url}/clusters/root`);
    const team = server.client.cluster("root:org:team").resource(NAMESPACE);
    await team.create({ metadata: { name: "new" } });
    expect((await server.client.resource(WIDGET).all()).items).to.deep.equal([]);
    const { url } = server;
    await server.reset();
    expect(server.url).to.equal(url);
    expect((await team.list()).items.map(({ metadata }) => metadata.name)).not.to.include("new");
  });

  it("serves views beside the cluster, to the same users", async () => {
    const notes = Note.collection();
    notes.in("root").set("first", {});
    const view = defineVirtualWorkspace({
      name: "notes",
      path: "/clusters/:cluster",
      authorize: ({ user }) => (user.name === "ann" ? allow() : deny("only Ann")),
      resources: [Note.serve(notes)],
    });
    await using server = await startTestServer({ virtualWorkspaces: [view], users: { ann: {} } });
    const path = "/services/notes/clusters/root/apis/test.dev/v1/notes/first";
    expect((await fetchText(server, path, server.user("ann").token)).status).to.equal(200);
    expect((await fetchText(server, path)).status).to.equal(403);
    expect(server.requests.list({ resource: "notes" }).map(({ user, code }) => [user, code])).to.deep.equal([
      ["ann", 200],
      ["admin", 403],
    ]);
  });

  it("names the option and the remedy for content that it cannot use", async () => {
    const messages = [
      [{ crds: "nowhere/*.yaml" }, /^crds: no file matches "nowhere\/\*\.yaml" in /],
      [{ objects: "nowhere.yaml" }, /^objects: file or folder "nowhere\.yaml" does not exist in /],
      [{ objects: "a: b\n" }, /^objects: object without apiVersion and kind: /],
      [{ objects: [widget("a")] }, /does not serve it: apply its CustomResourceDefinition first$/],
      [{ workspaces: ["org"] }, /^workspaces: invalid path "org": use a path below root, such as root:org$/],
    ] as const;
    for (const [options, message] of messages) {
      const error = await failure(startTestServer(options));
      expect((error as Error).message).to.match(message);
    }
    await using server = await startTestServer();
    expect(() => server.user("eve")).to.throw('unknown user "eve": add it to the option users');
  });
});

function namespace(name: string) {
  return { apiVersion: "v1", kind: "Namespace", metadata: { name } };
}

async function failure(pending: Promise<unknown>): Promise<unknown> {
  return pending.then(
    () => expect.fail("no error"),
    (error: unknown) => error,
  );
}

async function fetchText(
  server: { readonly url: string; readonly ca: string | undefined; readonly admin: { readonly token: string } },
  path: string,
  token = server.admin.token,
): Promise<{ readonly status: number; readonly body: string }> {
  const { get } = await import("node:https");
  const headers = token === "" ? {} : { authorization: `Bearer ${token}` };
  return new Promise((resolve, reject) => {
    get(`${server.url}${path}`, { ca: server.ca, headers, agent: false }, (res) => {
      let body = "";
      res.setEncoding("utf8").on("data", (piece: string) => {
        body += piece;
      });
      res.on("end", () => resolve({ status: res.statusCode ?? 0, body }));
    }).on("error", reject);
  });
}

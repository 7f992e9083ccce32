// Several kinds of one name side by side, requested by their identity: `widgets:3f2a` (kcp's resource identity).
import {
  type AuthorizeRequest,
  allow,
  defineResource,
  defineVirtualWorkspace,
  deny,
  type ServedResource,
} from "@virtual-workspaces/framework";
import { audit } from "@virtual-workspaces/framework/audit";
import { requestInfo } from "@virtual-workspaces/framework/request";
import { expect } from "chai";
import { expectFault } from "../_setup/faults.ts";
import { UNEXPECTED } from "../_support/internal.ts";
import { label, outcome, startPlain } from "../_support/plain.ts";

const widget = (field: string) =>
  defineResource({
    group: "test.dev",
    version: "v1",
    kind: "Widget",
    scope: "Namespaced",
    spec: { type: "object", properties: { [field]: { type: "string" } } },
    status: { type: "object", properties: { seen: { type: "boolean" } } },
  });
const RED = "3f2a";
const BLUE = "99.a-b_c";
const at = (cluster: string, resource: string, rest = ""): `/services/${string}` =>
  `/services/ids/clusters/${cluster}/apis/test.dev/v1/namespaces/default/${resource}${rest}`;
const all = (resource: string): string => `/services/ids/clusters/*/apis/test.dev/v1/${resource}`;

function setUp() {
  const [plain, red, blue] = [widget("plain"), widget("red"), widget("blue")];
  const kept = { plain: plain.collection(), red: red.collection(), blue: blue.collection() };
  kept.plain.in("root", "default").set("a", { plain: "1" });
  kept.red.in("root", "default").set("a", { red: "2" });
  kept.red.in("other", "default").set("b", { red: "3" });
  kept.blue.in("root", "default").set("a", { blue: "4" });
  const questions: AuthorizeRequest[] = [];
  const state = {
    served: [
      plain.serve(kept.plain),
      red.serve(kept.red, { identity: RED }),
      blue.serve(kept.blue, { identity: BLUE, verbs: ["get", "list"] }),
    ] as readonly ServedResource[],
  };
  const view = defineVirtualWorkspace({
    name: "ids",
    path: "/clusters/:cluster",
    wildcard: true,
    authorize: (question) => {
      questions.push(question);
      return question.verb === "delete" ? deny("no") : allow();
    },
    resources: () => state.served,
  });
  return { view, kept, state, questions, plain, red };
}

describe("a resource served by its identity", () => {
  it("differs from the resource of that name, and from those of other identities", async () => {
    await using server = await startPlain([setUp().view]);
    expect((await server.get(at("root", "widgets", "/a"))).body.spec).to.deep.equal({ plain: "1" });
    expect((await server.get(at("root", `widgets:${RED}`, "/a"))).body.spec).to.deep.equal({ red: "2" });
    expect((await server.get(at("root", `widgets%3A${RED}`, "/a"))).body.spec).to.deep.equal({ red: "2" });
    expect((await server.get(at("root", `widgets:${BLUE}`, "/a"))).body.spec).to.deep.equal({ blue: "4" });
    expect((await server.get(all(`widgets:${RED}`))).body.items).to.have.length(2);
    expect((await server.get(all("widgets"))).body.items).to.have.length(1);
    expect((await server.get(at("root", "widgets:other", "/a"))).status).to.equal(404);
  });

  it("is written, watched and authorized like others, with its own schema and verbs", async () => {
    const { view, kept } = setUp();
    await using server = await startPlain([view]);
    await using watch = await server.watch(`${all(`widgets:${RED}`)}?watch=true&resourceVersion=0`);
    expect((await watch.take(2)).sort()).to.deep.equal(["ADDED a", "ADDED b"]);
    const made = { apiVersion: "test.dev/v1", kind: "Widget", metadata: { name: "n" }, spec: { red: "x", plain: "y" } };
    const created = await server.send(`POST ${at("root", `widgets:${RED}`)}`, made);
    expect([created.status, created.body.spec]).to.deep.equal([201, { red: "x" }]);
    expect(label(await watch.next())).to.equal("ADDED n");
    const seen = { ...created.body, status: { seen: true } };
    const status = await server.send(`PUT ${at("root", `widgets:${RED}`, "/n/status")}`, seen);
    expect(status.body.status).to.deep.equal({ seen: true });
    expect(kept.plain.in("root", "default").get("n")).to.equal(undefined);
    expect((await server.send(`POST ${at("root", `widgets:${BLUE}`)}`, made)).status).to.equal(405);
  });

  it("is the plain resource to rules and audit, which see the identity beside it", async () => {
    const { view, questions } = setUp();
    const events: { objectRef?: { resource: string } }[] = [];
    const log = audit({
      policy: { apiVersion: "audit.k8s.io/v1", kind: "Policy", rules: [{ level: "Metadata" }] },
      to: (line) => void events.push(JSON.parse(line)),
    });
    const server = await startPlain([view], { audit: log });
    await server.get(at("root", "widgets", "/a"));
    await server.get(at("root", `widgets:${RED}`, "/a/status"));
    const refused = await server.send(`DELETE ${at("root", `widgets:${RED}`, "/a")}`);
    expect(outcome(refused)).to.deep.equal([
      403,
      "Forbidden",
      'widgets.test.dev "a" is forbidden: User "alice" cannot delete resource "widgets" in API group "test.dev" in the namespace "default": no',
    ]);
    const told = questions.map(({ resource, identity, subresource, name }) => [resource, identity, subresource, name]);
    expect(told).to.deep.equal([
      ["widgets", "", "", "a"],
      ["widgets", RED, "status", "a"],
      ["widgets", RED, "", "a"],
    ]);
    await server.server.close();
    expect(new Set(events.map(({ objectRef }) => objectRef?.resource))).to.deep.equal(new Set(["widgets"]));
  });

  it("is advertised in no document, and listed in no review", async () => {
    const { view, state, plain, kept } = setUp();
    const Gadget = defineResource({ group: "test.dev", version: "v1", kind: "Gadget", scope: "Cluster" });
    state.served = [...state.served, Gadget.serve(Gadget.collection(), { identity: RED })];
    await using server = await startPlain([view]);
    const texts = async (): Promise<string[]> => {
      const base = "/services/ids/clusters/root";
      const paths = ["/apis", "/apis/test.dev/v1", "/openapi/v3", "/openapi/v3/apis/test.dev/v1", "/openapi/v2"];
      const answers = await Promise.all(paths.map(async (path) => server.get(base + path)));
      const review = {
        apiVersion: "authorization.k8s.io/v1",
        kind: "SelfSubjectRulesReview",
        spec: { namespace: "x" },
      };
      const rules = await server.send(`POST ${base}/apis/authorization.k8s.io/v1/selfsubjectrulesreviews`, review);
      return [...answers.map(({ text }) => text), JSON.stringify(rules.body.status.resourceRules)];
    };
    const both = await texts();
    expect(both.join()).not.to.match(/gadgets|Gadget/);
    state.served = [plain.serve(kept.plain)];
    expect(await texts()).to.deep.equal(both);
    state.served = setUp().state.served.slice(1);
    expect((await server.get("/services/ids/clusters/root/apis/test.dev/v1")).status).to.equal(404);
  });

  it("ends its own watches when the identity is removed, and no others", async () => {
    const { view, state, kept } = setUp();
    await using server = await startPlain([view]);
    await using gone = await server.watch(`${all(`widgets:${RED}`)}?watch=true&resourceVersion=0`);
    await using stays = await server.watch(`${all("widgets")}?watch=true&resourceVersion=0`);
    await gone.take(2);
    await stays.take(1);
    state.served = state.served.filter(({ identity }) => identity !== RED);
    expect((await gone.rest()).map(label)).to.deep.equal(["ERROR 410"]);
    kept.plain.in("root", "default").set("b", {});
    expect(await stays.take(1)).to.deep.equal(["ADDED b"]);
  });

  it("is no review even if it resembles one: its rule is called, and it is not served", async () => {
    const { view, questions } = setUp();
    await using server = await startPlain([view]);
    const path = "/services/ids/clusters/root/apis/authentication.k8s.io/v1/selfsubjectreviews:x";
    expect((await server.send(`POST ${path}`, {})).status).to.equal(404);
    expect(questions.map(({ resource, identity }) => [resource, identity])).to.deep.equal([
      ["selfsubjectreviews", "x"],
    ]);
  });

  it("with the name of a review does not affect the framework's reviews", async () => {
    const { view, state } = setUp();
    const Own = defineResource({
      group: "authentication.k8s.io",
      version: "v1",
      kind: "SelfSubjectReview",
      scope: "Cluster",
      schema: { type: "object", properties: { own: { type: "boolean" } } },
    });
    const create = (_scope: unknown, object: object) => ({ ...object, own: true }) as never;
    state.served = [...state.served, Own.serve({ lifecycle: "storage", create }, { identity: "x" })];
    await using server = await startPlain([
      { ...view, authorize: ({ identity }) => (identity === "x" ? allow() : deny("")) },
    ]);
    const path = "/services/ids/clusters/root/apis/authentication.k8s.io/v1/selfsubjectreviews";
    const review = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
    expect((await server.send(`POST ${path}`, review)).body.status.userInfo.username).to.equal("alice");
    expect((await server.send(`POST ${path}:x`, review)).body).to.include({ own: true });
  });

  it("is defined once, with a plain identity", async () => {
    const { red, kept, state } = setUp();
    const twice = [...state.served, red.serve(kept.red, { identity: RED })];
    await using server = await startPlain([{ ...setUp().view, resources: twice }]);
    expect((await server.get(at("root", "widgets", "/a"))).body.message).to.match(UNEXPECTED);
    expectFault(/duplicate resource test.dev\/v1\/widgets:3f2a: serve it once/);
    for (const identity of ["a:b", "a/b", " ", "a%", "-", ".."])
      expect(() => red.serve(kept.red, { identity }), identity).to.throw("must be letters, digits");
  });
});

describe("a colon in a resource", () => {
  it("is 404 when the resource is not served, and 400 without an identity after it", async () => {
    const { view } = setUp();
    await using server = await startPlain([view]);
    for (const resource of ["widgets:a:b", `widgets:${RED}:`, ":widgets", `Widgets:${RED}`])
      expect((await server.get(at("root", resource, "/a"))).status, resource).to.equal(404);
    for (const resource of ["widgets:", "widgets%3a", ":"])
      expect((await server.get(at("root", resource, "/a"))).status, resource).to.equal(400);
    expect(outcome(await server.get(at("root", "widgets:")))).to.deep.equal([
      400,
      "BadRequest",
      'missing identity after the colon in "widgets:": leave the colon out, or add an identity',
    ]);
  });

  it("separates the identity wherever a resource can occur, and nowhere else", () => {
    const read = (tail: string) => {
      const { resource, identity, name, namespace } = requestInfo({
        method: "GET",
        tail,
        query: new URLSearchParams(),
      });
      return [resource, identity, namespace, name];
    };
    expect(read("/api/v1/watch/things:x/n")).to.deep.equal(["things", "x", "", "n"]);
    expect(read("/api/v1/namespaces/a:b/things:x:y/n:m")).to.deep.equal(["things", "x:y", "a:b", "n:m"]);
    expect(read("/apis/g:h/v1/things/n:m")).to.deep.equal(["things", "", "", "n:m"]);
    expect(read("/apis/g/v1/namespaces:x/n")).to.deep.equal(["namespaces", "x", "", "n"]);
    expect(read("/healthz:")).to.deep.equal(["", "", "", ""]);
  });
});

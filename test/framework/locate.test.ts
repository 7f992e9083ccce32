// `locate` resolves :cluster to a logical cluster, after authentication and before any decision.
import { ApiError } from "@virtual-workspaces/apimachinery";
import {
  type AuthorizeRequest,
  allow,
  defineVirtualWorkspace,
  deny,
  type RawRequest,
  type VirtualWorkspace,
} from "@virtual-workspaces/framework";
import type { ImpersonationRequest } from "@virtual-workspaces/framework/authz";
import { expect } from "chai";
import { expectFault } from "../_setup/faults.ts";
import { startAudited } from "../_support/audited.ts";
import { UNEXPECTED } from "../_support/internal.ts";
import { Note } from "../_support/note.ts";
import { label, outcome, startPlain } from "../_support/plain.ts";
import { Wire } from "../_support/wire.ts";

type Locate = NonNullable<VirtualWorkspace["locate"]>;
const api = (cluster: string, rest = "/notes"): string => `/clusters/${cluster}/apis/test.dev/v1${rest}`;

function setUp({ late = false } = {}) {
  const notes = Note.collection();
  for (const cluster of ["org", "team1", "team2"]) notes.in(cluster).set("a", { text: cluster });
  const names = new Map([
    ["root:org", "org"],
    ["root:org:team", "team1"],
  ]);
  const asked: string[] = [];
  const questions: AuthorizeRequest[] = [];
  const raw: RawRequest<Readonly<Record<string, string>>>[] = [];
  const find: Locate = (cluster, { user, params }) => {
    asked.push(`${user.name} ${cluster} ${params.cluster}`);
    if (cluster === "root:secret")
      throw ApiError.forbidden({ resource: { group: "", resource: "" }, message: "not here" });
    if (cluster === "root:busy") throw ApiError.tooManyRequests("it is being made", 3);
    const name = names.get(cluster) ?? (cluster.includes(":") ? undefined : cluster);
    if (name === undefined) throw ApiError.notFoundPath(`there is no workspace ${cluster}`);
    return name;
  };
  const view = defineVirtualWorkspace({
    name: "own",
    prefix: "/clusters",
    path: "/:cluster",
    wildcard: true,
    locate: late ? async (...question) => find(...question) : find,
    authorize: (question) => {
      questions.push(question);
      return question.verb === "delete" || question.params.cluster === "team2" ? deny("no") : allow();
    },
    resources: ({ params }) => (params.cluster === "org" ? [] : served),
    upgrade: (_req, socket, request) => {
      raw.push(request);
      socket.end("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: test\r\n\r\n");
    },
  });
  const served = [Note.serve(notes)];
  return { view, notes, names, asked, questions, raw };
}

for (const late of [false, true])
  describe(`locate, ${late ? "late" : "at once"}`, () => {
    it("resolves a path for the rule, the discovery hook and the storage", async () => {
      const { view, asked, questions } = setUp({ late });
      await using server = await startPlain([view]);
      const { body } = await server.get(api("root:org:team", "/notes/a"));
      expect(body.spec).to.deep.equal({ text: "team1" });
      expect(body.metadata.annotations["kcp.io/cluster"]).to.equal("team1");
      expect(asked).to.deep.equal(["alice root:org:team root:org:team"]);
      expect(questions.map(({ params }) => params)).to.deep.equal([{ cluster: "team1" }]);
      expect((await server.get(api("team1", "/notes/a"))).body.spec).to.deep.equal({ text: "team1" });
      expect(asked.at(-1)).to.equal("alice team1 team1");
      expect((await server.get(api("root:org"))).status).to.equal(404);
      const openapi = await server.get("/clusters/root:org:team/openapi/v3");
      expect(openapi.body.paths["apis/test.dev/v1"].serverRelativeURL).to.match(/^\/clusters\/root:org:team\/openapi/);
    });

    it("answers with the exception of the hook: 403, 404, 429; before the rule runs", async () => {
      const { view, questions } = setUp({ late });
      await using server = await startPlain([view]);
      expect((await server.get(api("root:secret"))).body).to.include({ code: 403, reason: "Forbidden" });
      expect(outcome(await server.get(api("root:nope")))).to.deep.equal([
        404,
        "NotFound",
        "there is no workspace root:nope",
      ]);
      const busy = await server.get(api("root:busy"));
      expect(outcome(busy)).to.deep.equal([429, "TooManyRequests", "it is being made"]);
      expect(busy.headers["retry-after"]).to.equal("3");
      expect(questions).to.deep.equal([]);
    });

    it("is not called for unauthenticated callers, for *, and for invalid paths", async () => {
      const { view, asked } = setUp({ late });
      await using server = await startPlain([view]);
      expect((await server.get(api("root:org"), { headers: { authorization: "" } })).status).to.equal(401);
      expect((await server.get(api("root::org"))).status).to.equal(400);
      expect((await server.get(api("*"))).body.items).to.have.length(3);
      expect(asked).to.deep.equal([]);
    });

    it("is called for the authenticated user; the impersonation rule gets the resolved cluster", async () => {
      const { view, asked, questions } = setUp({ late });
      const seen: unknown[] = [];
      const impersonation = Object.assign(
        ({ params }: AuthorizeRequest<unknown>) => {
          seen.push(params);
          return allow();
        },
        {
          become: ({ impersonated, params }: ImpersonationRequest) => {
            seen.push(params);
            return impersonated;
          },
        },
      );
      await using server = await startPlain([view], { impersonation });
      await server.get(api("root:org:team"), { headers: { "impersonate-user": "eve" } });
      expect(asked).to.deep.equal(["alice root:org:team root:org:team"]);
      expect(seen).to.deep.equal([{ cluster: "team1" }, { cluster: "team1" }]);
      expect(questions[0]?.user.name).to.equal("eve");
      expect(questions[0]?.params).to.deep.equal({ cluster: "team1" });
    });

    it("applies to reviews, raw handlers and upgrades, whose prefix keeps the original text", async () => {
      const { view, questions, raw } = setUp({ late });
      await using server = await startPlain([view]);
      const review = {
        apiVersion: "authorization.k8s.io/v1",
        kind: "SelfSubjectAccessReview",
        spec: { resourceAttributes: { verb: "get", group: "test.dev", resource: "notes" } },
      };
      const path = "/clusters/root:org:team/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
      expect((await server.send(`POST ${path}`, review)).body.status).to.deep.equal({ allowed: true });
      expect(questions.map(({ params }) => params.cluster)).to.deep.equal(["team1"]);
      using wire = await Wire.open(Number(new URL(server.url).port));
      const lines = ["Host: x", "Authorization: Bearer alice", "Connection: Upgrade", "Upgrade: test"];
      wire.request("GET /clusters/root%3Aorg:team/x HTTP/1.1", ...lines);
      expect(await wire.rest()).to.match(/^HTTP\/1.1 101 /);
      expect(raw[0]).to.include({ prefix: "/clusters/root%3Aorg:team", tail: "/x" });
      expect(raw[0]?.params).to.deep.equal({ cluster: "team1" });
    });

    it("adds parameters for the rule and raw handlers, and cannot change those of the path", async () => {
      const { view, questions } = setUp({ late });
      const place = { cluster: "org", params: { mount: "lab", cluster: "other" } };
      const handled: unknown[] = [];
      await using server = await startPlain([
        {
          ...view,
          locate: late ? async () => place : () => place,
          handleWhen: ({ params }) => params["mount"] === "lab",
          handle: (_, res, { params, prefix }) => {
            handled.push(params, prefix);
            res.end();
          },
        },
      ]);
      expect((await server.get(api("root:org:lab"))).status).to.equal(200);
      expect(handled).to.deep.equal([{ mount: "lab", cluster: "org" }, "/clusters/root:org:lab"]);
      expect(questions.map(({ params }) => params)).to.deep.equal([{ mount: "lab", cluster: "org" }]);
    });

    it("keeps an open watch at its cluster when the path moves", async () => {
      const { view, notes, names } = setUp({ late });
      await using server = await startPlain([view]);
      await using watch = await server.watch(`${api("root:org:team")}?watch=true`);
      expect(label(await watch.next())).to.equal("ADDED a");
      names.set("root:org:team", "team3");
      notes.in("team3").set("elsewhere", {});
      notes.in("team1").set("b", {});
      expect(label(await watch.next())).to.equal("ADDED b");
      const { items } = (await server.get(api("root:org:team"))).body;
      expect(items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)).to.deep.equal(["elsewhere"]);
    });
  });

describe("locate", () => {
  const wrong: Record<string, unknown> = {
    "all clusters": "*",
    "a path": "root:org",
    "no text": undefined,
    "a name that is none": "Team",
    "an object": { name: "team1" },
    "a path with parameters": { cluster: "root:org", params: {} },
  };
  for (const [what, answer] of Object.entries(wrong))
    it(`is 500 when the hook returns ${what}, and no other hook runs`, async () => {
      const { view, questions } = setUp();
      for (const locate of [() => answer as string, async () => answer as string]) {
        await using server = await startPlain([{ ...view, locate }]);
        expect((await server.get(api("team1"))).body.message).to.match(UNEXPECTED);
        expectFault(/locate must return the name of a logical cluster/);
      }
      expect(questions).to.deep.equal([]);
    });

  it("is 500, without its text, when the hook throws something else than an ApiError", async () => {
    const { view } = setUp();
    for (const locate of [() => Promise.reject(new Error("boom")), () => expect.fail("boom")]) {
      await using server = await startPlain([{ ...view, locate }]);
      expect((await server.get(api("team1"))).body.message).to.match(UNEXPECTED);
      expectFault(/boom/);
    }
  });

  it("is 504 when the hook does not return in time", async () => {
    const { view } = setUp();
    const view2 = { ...view, locate: (_: string, { signal }: { signal: AbortSignal }) => gone(signal) };
    await using server = await startPlain([view2], { requestTimeout: 50 });
    expect((await server.get(api("team1"))).status).to.equal(504);
  });

  it("requires a path with :cluster, and without it a workspace path is not a cluster", async () => {
    const locate = (cluster: string): string => cluster;
    expect(() =>
      defineVirtualWorkspace({ name: "x", path: "/:org", authorize: () => allow(), resources: [], locate }),
    ).to.throw("invalid locate of virtual workspace x: its path needs a :cluster");
    expect(() =>
      defineVirtualWorkspace({
        name: "x",
        path: "/:org",
        clusterSuffix: true,
        authorize: () => allow(),
        resources: [],
      }),
    ).to.throw("invalid clusterSuffix of virtual workspace x: its path needs a :cluster");
    const { locate: _, ...view } = setUp().view;
    await using server = await startPlain([view]);
    expect(outcome(await server.get(api("root:org")))).to.deep.equal([
      400,
      "BadRequest",
      '"root:org" is a workspace path: use the name of its logical cluster, spec.cluster of the Workspace',
    ]);
  });

  it("determines the cluster in logs and audit events once it is resolved", async () => {
    const { view } = setUp();
    const clusters: unknown[] = [];
    await using server = await startAudited({
      virtualWorkspaces: [view],
      onRequest: ({ cluster, code }) => void clusters.push([cluster, code]),
    });
    const located = await server.eventsOf(api("root:org:team"));
    const annotated = (events: typeof located.events) =>
      events.map(({ stage, annotations }) => [stage, annotations?.["tenancy.kcp.io/workspace"]]);
    expect(annotated(located.events)).to.deep.equal([
      ["RequestReceived", "team1"],
      ["ResponseComplete", "team1"],
    ]);
    expect(located.events[1]?.["requestURI"]).to.equal(api("root:org:team"));
    const unknown = await server.eventsOf(api("root:nope"));
    expect(annotated(unknown.events).map(([, cluster]) => cluster)).to.deep.equal([undefined, undefined]);
    expect(clusters).to.deep.equal([
      ["team1", 200],
      ["", 404],
    ]);
  });
});

function gone(signal: AbortSignal): Promise<string> {
  return new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
}

// Audit events of a server: one set for each request, whatever its outcome, with the fields that Kubernetes has.
import { createHash } from "node:crypto";
import { once } from "node:events";
import { request } from "node:http";
import { createServer } from "node:net";
import { join } from "node:path";
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { type Authorizer, allow, defineVirtualWorkspace, union } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { expectFault } from "../_setup/faults.ts";
import { tree } from "../_setup/tree.ts";
import { type AuditEvent, MEMOS, memo, policy, startAudited, VIEW } from "../_support/audited.ts";
import { Wire } from "../_support/wire.ts";

const MICRO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;

function stages(events: readonly AuditEvent[]): string[] {
  return events.map(({ stage, verb, responseStatus }) => `${verb} ${stage} ${responseStatus?.code ?? ""}`.trim());
}

describe("audit events", () => {
  it("record user, verb, object and outcome", async () => {
    await using server = await startAudited();
    const { answer, events } = await server.eventsOf(`${MEMOS}/first?pretty=true`, {
      headers: { "user-agent": "tests/1", "x-forwarded-for": "10.0.0.9, nonsense", "x-real-ip": "10.0.0.8" },
    });
    const auditID = answer.headers.get("audit-id");
    const [received, complete] = events;
    expect(received).to.deep.include({
      kind: "Event",
      apiVersion: "audit.k8s.io/v1",
      level: "Metadata",
      auditID,
      stage: "RequestReceived",
      requestURI: `${MEMOS}/first?pretty=true`,
      verb: "get",
      user: { username: "alice", uid: "7", groups: ["team", "system:authenticated"], extra: { scopes: ["a"] } },
      sourceIPs: ["10.0.0.9", "10.0.0.8", "127.0.0.1"],
      userAgent: "tests/1",
      objectRef: { resource: "memos", namespace: "default", name: "first", apiGroup: "test.dev", apiVersion: "v1" },
    });
    expect(received).not.to.have.property("responseStatus");
    const place = { "kcp.io/path": "", "tenancy.kcp.io/workspace": "root", "kcp.io/cluster": "root" };
    expect(received?.["annotations"]).to.deep.equal(place);
    expect(complete).to.deep.include({
      stage: "ResponseComplete",
      auditID,
      responseStatus: { metadata: {}, code: 200 },
    });
    expect(complete?.["annotations"]).to.deep.equal({
      "authorization.k8s.io/decision": "allow",
      "authorization.k8s.io/reason": "",
      ...place,
    });
    const [began, ended] = [complete?.["requestReceivedTimestamp"], complete?.["stageTimestamp"]];
    expect(began).to.match(MICRO).and.equal(received?.["stageTimestamp"]);
    expect(ended).to.match(MICRO);
    expect(ended >= began && Math.abs(Date.parse(began) - Date.now()) < 10_000).to.equal(true);
  });

  it("are written for every kind of rejection", async () => {
    await using server = await startAudited();
    const seen: unknown[] = [];
    for (const [path, init, count] of [
      [MEMOS, { token: "wrong" }, 1],
      [MEMOS, { token: "" }, 1],
      ["/services/none", {}, 1],
      [`${VIEW}/%00`, {}, 1],
      [`${MEMOS}/first`, { method: "DELETE" }, 2],
      [`${MEMOS}/gone`, {}, 2],
      [MEMOS, { method: "POST", body: "{", headers: { "content-type": "application/json" } }, 2],
      [MEMOS, { headers: { "impersonate-user": "eve" } }, 2],
      ["/livez", { token: "" }, 1],
    ] as const) {
      const { events } = await server.eventsOf(path, init, count);
      const { user, responseStatus, annotations } = events.at(-1) as AuditEvent;
      seen.push([
        user.username,
        responseStatus.code,
        responseStatus.reason,
        annotations?.["authorization.k8s.io/decision"],
      ]);
    }
    expect(seen).to.deep.equal([
      [undefined, 401, "Unauthorized", undefined],
      [undefined, 401, "Unauthorized", undefined],
      ["alice", 404, "NotFound", undefined],
      [undefined, 400, "BadRequest", undefined],
      ["alice", 403, "Forbidden", "forbid"],
      ["alice", 404, "NotFound", "allow"],
      ["alice", 400, "BadRequest", "allow"],
      ["alice", 403, "Forbidden", "forbid"],
      [undefined, 200, undefined, undefined],
    ]);
  });

  it("for a failed authentication name the method and never the credentials", async () => {
    await using server = await startAudited();
    const secret = `s3cret-${createHash("sha256").update("x").digest("hex")}`;
    const { events } = await server.eventsOf(`${MEMOS}?access_token=${secret}`, { token: secret }, 1);
    expect(events[0]?.["responseStatus"].message).to.equal("Authentication failed, attempted: bearer");
    expect(JSON.stringify(events)).not.to.include(secret);
    const { events: nobody } = await server.eventsOf(MEMOS, { token: "" }, 1);
    expect(nobody[0]?.["responseStatus"].message).to.equal("Authentication failed, no credentials provided");
  });

  it("never contain tokens from the query, however the parameter names are encoded", async () => {
    await using server = await startAudited();
    const names = ["token", "access_Token", "ID_TOKEN", "X-Amz-Security-Token", "%74oken", "a%5fto%4Ben", "a.b:token"];
    const query = names.map((name, at) => `${name}=SECRET${at}%26&n${at}=kept`).join("&");
    const { events } = await server.eventsOf(`/livez?${query}&tokens=kept&token`, { token: "" }, 1);
    expect(events[0]?.["requestURI"]).to.equal(
      `/livez?${names.map((name, at) => `${name}=REDACTED&n${at}=kept`).join("&")}&tokens=kept&token`,
    );
    for (const form of [
      "?a=b;token=SECRET;x",
      "?a=b?token=SECRET",
      "??Token=SECRET",
      "?token=SECRET?x",
      "?&token==SECRET",
    ]) {
      const { events: other } = await server.eventsOf(`/livez${form}`, { token: "" }, 1);
      expect(other[0]?.["requestURI"]).to.include("oken=REDACTED").and.not.include("SECRET");
    }
    const { events: long } = await server.eventsOf(`/livez?${"x".repeat(8176)}&token=SECRET`, { token: "" }, 1);
    expect(JSON.stringify(long)).to.include("TRUNCATED").and.not.include("SEC");
  });

  it("record the original request, even if a handler changes it", async () => {
    const raw = defineVirtualWorkspace({
      name: "raw",
      path: "/",
      authorize: () => allow(),
      handle: (req, res) => {
        req.url = "/rewritten";
        for (const name of ["user-agent", "x-forwarded-for", "x-real-ip"]) req.headers[name] = "9.9.9.9";
        res.end();
      },
    });
    await using server = await startAudited({ virtualWorkspaces: [raw] });
    const headers = { "user-agent": "tests/1", "x-forwarded-for": "10.0.0.9", "x-real-ip": "10.0.0.8" };
    for (const event of (await server.eventsOf("/services/raw/x?y", { headers })).events)
      expect(event).to.deep.include({
        requestURI: "/services/raw/x?y",
        userAgent: "tests/1",
        sourceIPs: ["10.0.0.9", "10.0.0.8", "127.0.0.1"],
      });
  });

  it("for a connection without an address contain only the addresses from headers", async function () {
    if (process.platform === "win32") this.skip();
    using folder = tree({});
    await using server = await startAudited();
    const socketPath = join(folder.path, "s");
    const unix = createServer((socket) => server.server.accept(socket)).listen(socketPath);
    await once(unix, "listening");
    for (const [headers, ips] of [
      [{}, undefined],
      [{ "x-real-ip": "10.0.0.8" }, ["10.0.0.8"]],
    ] as const) {
      const [answer] = await once(request({ socketPath, path: "/livez", headers, agent: false }).end(), "response");
      answer.resume();
      expect((await server.until(1))[0]?.["sourceIPs"]).to.deep.equal(ips);
    }
    unix.close();
    await once(unix, "close");
  });

  it("record both the authenticated and the impersonated user; rules match the authenticated one", async () => {
    const rules = [{ level: "None", users: ["eve"] } as const, { level: "Metadata", users: ["admin"] } as const];
    await using server = await startAudited({ policy: policy(...rules) });
    const headers = { "impersonate-user": "eve", "impersonate-group": "guests" };
    const { events } = await server.eventsOf(MEMOS, { token: "admin-token", headers });
    expect(events.map(({ user }) => user.username)).to.deep.equal(["admin", "admin"]);
    expect(events[0]).not.to.have.property("impersonatedUser");
    expect(events[1]?.["impersonatedUser"]).to.deep.equal({
      username: "eve",
      groups: ["guests", "system:authenticated"],
    });
  });

  it("for a watch are written when it is requested, when it starts and when it ends", async () => {
    await using server = await startAudited();
    const leave = new AbortController();
    await server.ask(`${MEMOS}?watch=true`, { signal: leave.signal });
    expect(stages(await server.until(2))).to.deep.equal(["watch RequestReceived", "watch ResponseStarted 200"]);
    leave.abort();
    expect(stages(await server.until(1))).to.deep.equal(["watch ResponseComplete 200"]);
  });

  it("for a rejected upgrade are written once", async () => {
    await using server = await startAudited();
    using wire = await Wire.open(server.port);
    wire.request(
      `GET ${VIEW}/x HTTP/1.1`,
      "Host: x",
      "Connection: Upgrade",
      "Upgrade: x",
      "Authorization: Bearer alice-token",
    );
    expect((await wire.answer())?.status).to.equal(400);
    await wire.end();
    expect(stages(await server.until(2))).to.deep.equal(["get RequestReceived", "get ResponseComplete 400"]);
  });

  it("for a handler that throws end with a Panic", async () => {
    await using server = await startAudited();
    const { events } = await server.eventsOf(MEMOS, { method: "DELETE" });
    expectFault(/the rule is broken/);
    expect(stages(events)).to.deep.equal(["deletecollection RequestReceived", "deletecollection Panic 500"]);
    expect(JSON.stringify(events)).not.to.include("the rule is broken");
  });

  it("use the client's Audit-ID if it is short and has only plain characters", async () => {
    await using server = await startAudited();
    const { answer, events } = await server.eventsOf(MEMOS, { headers: { "audit-id": "from-the-proxy" } });
    expect(answer.headers.get("audit-id")).to.equal("from-the-proxy");
    expect(events.map(({ auditID }) => auditID)).to.deep.equal(["from-the-proxy", "from-the-proxy"]);
    for (const bad of ["x".repeat(65), "two words"]) {
      const { answer: other } = await server.eventsOf(MEMOS, { headers: { "audit-id": bad } });
      expect(other.headers.get("audit-id")).to.match(/^[0-9a-f-]{36}$/);
    }
  });

  it("name the created object even if the URL does not", async () => {
    await using server = await startAudited();
    const { events } = await server.eventsOf(MEMOS, memo("second"));
    expect(events[1]?.["objectRef"]).to.include({ name: "second", namespace: "default" });
    expect(events[1]).not.to.have.property("requestObject");
  });

  it("contain the annotations of all authorizers that a union called, and none that contradict the outcome", async () => {
    const noted =
      (allowed: boolean, annotations: Record<string, string>): Authorizer<unknown> =>
      () =>
        allowed ? { allowed, annotations } : { allowed, reason: "", annotations };
    const first = noted(false, { "a.dev/first": 'no "one"', "authorization.k8s.io/decision": "allow" });
    const view = (authorize: Authorizer<unknown>) =>
      defineVirtualWorkspace({ name: "noted", path: "/", authorize, handle: (_, res) => void res.end() });
    for (const [authorize, expected] of [
      [noted(true, { "a.dev/x": "y" }), { "authorization.k8s.io/decision": "allow", "a.dev/x": "y" }],
      [first, { "authorization.k8s.io/decision": "forbid", "a.dev/first": 'no "one"' }],
      [
        union<unknown>(first, noted(false, { "a.dev/x": "z" })),
        { "authorization.k8s.io/decision": "forbid", "a.dev/first": 'no "one"', "a.dev/x": "z" },
      ],
      [union<unknown>(first, () => allow()), { "authorization.k8s.io/decision": "allow", "a.dev/first": 'no "one"' }],
    ] as const) {
      await using server = await startAudited({ virtualWorkspaces: [view(authorize)] });
      const { events } = await server.eventsOf("/services/noted/");
      expect(events.at(-1)?.["annotations"]).to.deep.equal({ "authorization.k8s.io/reason": "", ...expected });
    }
  });

  it("stay on one line, whatever the client sends", async () => {
    await using server = await startAudited();
    using wire = await Wire.open(server.port);
    wire.request(
      `GET ${VIEW}/apis?x=%22}{"a\\" HTTP/1.1`,
      "Host: x",
      `User-Agent: "}\\ ${Buffer.from("grün").toString("latin1")} ${"y".repeat(2000)}`,
      `X-Forwarded-For: ${Array.from({ length: 500 }, (_, at) => `10.0.${at % 250}.1`).join(",")}`,
      "Authorization: Bearer alice-token",
    );
    await wire.answer();
    const [event] = await server.until(2);
    expect(event?.["requestURI"]).to.equal(`${VIEW}/apis?x=%22}{"a\\"`);
    expect(event?.["userAgent"]).to.match(/^"\}\\ grün y+\.\.\.TRUNCATED$/);
    expect(event?.["sourceIPs"]).to.have.lengthOf(17);
  });
});

describe("audit of request and response bodies", () => {
  const whole = policy({ level: "RequestResponse" });

  it("records what was sent and what was returned", async () => {
    await using server = await startAudited({ policy: whole });
    const { events, body } = await server.eventsOf(MEMOS, memo("second", "line\nbreak ☃é"));
    expect(events[0]).not.to.have.any.keys("requestObject", "responseObject");
    expect(events[1]?.["requestObject"].spec).to.deep.equal({ text: "line\nbreak ☃é" });
    expect(events[1]?.["responseObject"]).to.deep.equal(JSON.parse(body));
    const { events: none } = await server.eventsOf(`${MEMOS}/none`);
    expect(none[1]?.["responseObject"]).to.include({ kind: "Status", code: 404 });
  });

  it("records only the request at level Request, including patches and options", async () => {
    await using server = await startAudited({ policy: policy({ level: "Request" }) });
    const merge = { "content-type": "application/merge-patch+json" };
    const patch = { method: "PATCH", body: '{"spec":{"text":"y"}}', headers: merge };
    const { events } = await server.eventsOf(`${MEMOS}/first`, patch);
    expect(events[1]?.["requestObject"]).to.deep.equal({ spec: { text: "y" } });
    expect(events[1]).not.to.have.property("responseObject");
    const apply = {
      method: "PATCH",
      body: "spec:\n  text: z\n",
      headers: { "content-type": "application/apply-patch+yaml" },
    };
    const { events: applied } = await server.eventsOf(`${MEMOS}/first?fieldManager=m`, apply);
    expect(applied[1]?.["requestObject"]).to.equal("spec:\n  text: z\n");
  });

  it("records complete lists in their requested form and YAML as JSON, and no watch events", async () => {
    await using server = await startAudited({ policy: whole });
    const { events } = await server.eventsOf(MEMOS);
    expect(events[1]?.["responseObject"]).to.include({ kind: "MemoList" });
    const { events: yaml } = await server.eventsOf(`${MEMOS}/first`, { headers: { accept: "application/yaml" } });
    expect(yaml[1]?.["responseObject"]).to.include({ kind: "Memo" });
    const table = "application/json;as=Table;v=v1;g=meta.k8s.io";
    const { events: rows } = await server.eventsOf(MEMOS, { headers: { accept: table } });
    expect(rows[1]?.["responseObject"]).to.include({ kind: "Table" });
    const { events: watch } = await server.eventsOf(`${MEMOS}?watch=true&timeoutSeconds=1`, {}, 3);
    for (const event of watch) expect(event).not.to.have.any.keys("requestObject", "responseObject");
  });

  it("records the body of a compressed response, unless it is too long when decompressed", async () => {
    const list = (length: number): Buffer =>
      Buffer.from(
        JSON.stringify({ kind: "MemoList", apiVersion: "test.dev/v1", metadata: {}, items: [], x: "x".repeat(length) }),
      );
    const bodies: Readonly<Record<string, Buffer>> = {
      gzip: gzipSync(list(10)),
      br: brotliCompressSync(list(10)),
      "deflate, GZIP": gzipSync(deflateSync(list(10))),
      zstd: zstdCompressSync(list(10)),
      "gzip, too long": gzipSync(list(100_000)),
      damaged: Buffer.from("{}"),
    };
    const view = defineVirtualWorkspace({
      name: "memos",
      path: "/clusters/:cluster",
      authorize: () => allow(),
      handle: ({ headers }, res) => {
        const form = String(headers["accept-encoding"]);
        const encoding = form === "damaged" ? "gzip" : form.replace(", too long", "");
        res.writeHead(200, { "Content-Type": "application/json", "Content-Encoding": encoding }).end(bodies[form]);
      },
    });
    await using server = await startAudited({ policy: whole, virtualWorkspaces: [view], audit: { maxObject: 10_000 } });
    for (const form of Object.keys(bodies)) {
      const headers = { authorization: "Bearer alice-token", "accept-encoding": form };
      // Not `fetch`, which would decompress it.
      const [answer] = await once(request({ port: server.port, path: MEMOS, headers, agent: false }).end(), "response");
      answer.resume();
      const [, event] = await server.until(2);
      const omitted = /too long|damaged/.test(form);
      expect(event?.["responseObject"]?.kind, form).to.equal(omitted ? undefined : "MemoList");
      expect(event?.["annotations"]["audit.k8s.io/truncated"], form).to.equal(omitted ? "true" : undefined);
    }
  });

  it("omits managed fields if the policy says so", async () => {
    await using server = await startAudited({ policy: { ...whole, omitManagedFields: true } });
    await server.eventsOf(`${MEMOS}?fieldManager=m`, memo("second"));
    for (const path of [`${MEMOS}/second`, MEMOS]) {
      const { events, body } = await server.eventsOf(path);
      expect(body).to.include("managedFields");
      expect(JSON.stringify(events)).to.include("second").and.not.include("managedFields");
    }
  });

  it("omits bodies that are too long, and records that", async () => {
    await using server = await startAudited({ policy: whole, audit: { maxObject: 1000 } });
    const { events, answer } = await server.eventsOf(MEMOS, memo("second", "x".repeat(2000)));
    expect(answer.status).to.equal(201);
    expect(events[1]).not.to.have.any.keys("requestObject", "responseObject");
    expect(events[1]?.["annotations"]).to.include({
      "audit.k8s.io/truncated": "true",
      "virtual-workspaces.dev/omitted": "requestObject,responseObject",
    });
  });
});

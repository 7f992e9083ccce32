// Paths mapped by objects in `root` while the front proxy runs: the identity that upstreams receive, and the limits of
// objects.
import type { ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { TLSSocket } from "node:tls";
import { manifests } from "@virtual-workspaces/front-proxy";
import { Upstream } from "@virtual-workspaces/transport";
import { expect } from "chai";
import { Authority, type KeyPair, SERVER_AUTH } from "../_support/certificates.ts";
import { type Answer, outcome } from "../_support/plain.ts";
import { Stores, untilAt } from "../workspace-server/shards/support.ts";
import { AS_ADMIN, CLUSTERS, type Front, type Shards, startFront, startShards } from "./support.ts";

const API = "/clusters/root/apis";
const CRDS = `${API}/apiextensions.k8s.io/v1/customresourcedefinitions`;
const MAPPINGS = `${API}/proxy.kcp.io/v1alpha1/pathmappings`;
const SECRETS = "/clusters/root/api/v1/namespaces/default/secrets";
const ADMIN = { user: "admin" };

const serving = Authority.root("serving of backends");
const clients = Authority.root("clients of backends");
const CA = base64(serving.cert);
const SERVER = serving.issue({ name: "localhost", usages: [SERVER_AUTH] });

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}

interface Backend extends AsyncDisposable {
  readonly url: string;
  /** Requests for `/hold`, which the test answers later. */
  readonly held: ServerResponse[];
}

/** Starts a server that returns its name, the caller's identity and the client certificate it received. */
async function startBackend(name: string): Promise<Backend> {
  const held: ServerResponse[] = [];
  const tls = { ...SERVER, ca: clients.cert, requestCert: true, rejectUnauthorized: false };
  const server = createServer(tls, (req, res) => {
    if (req.url?.endsWith("/hold") === true) {
      held.push(res);
      return;
    }
    if (req.url?.includes("watch=") === true) {
      res
        .setHeader("content-type", "application/json")
        .write(`{"type":"ADDED","object":{"metadata":{"name":"${name}"}}}\n`);
      return;
    }
    const { subject } = (req.socket as TLSSocket).getPeerCertificate();
    const told = Object.fromEntries(
      Object.entries(req.headers).filter(([header]) => /^(x-remote|authorization|impersonate)/.test(header)),
    );
    res.setHeader("content-type", "application/json").end(JSON.stringify({ name, by: subject?.CN, told }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    held,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe("PathMappings of a front proxy", function () {
  this.timeout(60_000);
  const stack = new AsyncDisposableStack();
  let front: Front;
  let one: Backend;
  let other: Backend;
  let shards: Shards;
  let root: Upstream;

  before(async () => {
    shards = stack.use(await startShards(stack.use(new Stores())));
    root = stack.use(new Upstream({ url: shards.url, ...AS_ADMIN }));
    [one, other] = [stack.use(await startBackend("one")), stack.use(await startBackend("other"))];
    const fixed = { path: "/services/fixed", backends: [other.url], tls: { ca: serving.cert } };
    front = stack.use(await startFront(shards.url, { mapping: [CLUSTERS, fixed], pathMappings: { root } }));
  });
  after(() => stack.disposeAsync());

  const make = (name: string, spec: object): Promise<Answer> => {
    const object = { apiVersion: "proxy.kcp.io/v1alpha1", kind: "PathMapping", metadata: { name }, spec };
    return front.send(`POST ${MAPPINGS}`, object, ADMIN);
  };
  const made = async (name: string, spec: object): Promise<void> => {
    const { status, text } = await make(name, { caBundle: CA, ...spec });
    expect(status, text).to.equal(201);
  };
  const change = async (path: `/${string}`, patch: object): Promise<void> => {
    const { body } = await front.get(path, ADMIN);
    const { status, text } = await front.send(`PUT ${path}`, { ...body, ...patch }, ADMIN);
    expect(status, text).to.equal(200);
  };
  const deleted = async (name: string): Promise<void> => {
    expect((await front.send(`DELETE ${MAPPINGS}/${name}`, undefined, ADMIN)).status).to.equal(200);
  };
  const accepted = async (name: string, state: string): Promise<string> => {
    const said = ({ body }: Answer) => {
      const { status, reason = "" } = body.status?.conditions?.[0] ?? {};
      return `${status} ${reason}`.trim();
    };
    const is = (answer: Answer): boolean => said(answer) === state;
    const { body } = await untilAt(front, { path: `${MAPPINGS}/${name}`, user: "admin" }, is);
    return body.status.conditions[0].message ?? "";
  };
  const secret = (pair: KeyPair, type = "kubernetes.io/tls") => ({
    ...{ apiVersion: "v1", kind: "Secret", type, metadata: { name: "client" } },
    data: { "tls.crt": base64(pair.cert), "tls.key": base64(pair.key) },
  });
  const client = (name: string): KeyPair => clients.issue({ name });

  it("are served once their kind exists, and as long as they exist", async () => {
    expect((await front.get("/readyz")).text).to.equal("ok");
    expect((await front.get("/services/one")).status).to.equal(404);
    expect((await front.send(`POST ${CRDS}`, manifests[0], ADMIN)).status).to.equal(201);
    await untilAt(front, { path: MAPPINGS, user: "admin" }, ({ status }) => status === 200);
    await made("one", { path: "/services/one", backends: [one.url] });
    await untilAt(front, { path: "/services/one/x", user: "alice" }, ({ status }) => status === 200);
    await accepted("one", "True");
    const headers = { "x-remote-user": "root", "x-remote-group": "system:masters" };
    const { body } = await front.get("/services/one/x", { user: "boss", headers });
    expect(body).to.deep.equal({
      name: "one",
      told: { "x-remote-user": "boss", "x-remote-group": "team, system:authenticated" },
    });
    const table = { ...ADMIN, headers: { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" } };
    const { rows } = (await front.get(`${MAPPINGS}/one`, table)).body;
    expect(rows[0].cells.slice(0, 3)).to.deep.equal(["one", "/services/one", "True"]);
    await deleted("one");
    await untilAt(front, { path: "/services/one/x", user: "alice" }, ({ status }) => status === 404);
  });

  it("receive only the headers of unknown callers, and never the proxy's own certificate", async () => {
    await made("stranger", { path: "/services/stranger", backends: [one.url] });
    await accepted("stranger", "True");
    const headers = { "x-remote-user": "root", "X-Remote-Extra-a": "b", x_remote_group: "system:masters" };
    const { body } = await front.get("/services/stranger", { user: "unknown", headers });
    expect(body).to.deep.equal({ name: "one", told: { authorization: "Bearer unknown" } });
    await deleted("stranger");
  });

  it("lose no request when they change: pending requests finish, watches end", async () => {
    await made("changing", { path: "/services/changing", backends: [one.url] });
    await accepted("changing", "True");
    const held = front.get("/services/changing/hold");
    await using watch = await front.watch("/services/changing/api/v1/pods?watch=1");
    expect(await watch.take(1)).to.deep.equal(["ADDED one"]);
    await untilAt(front, { path: "/services/changing", user: "alice" }, () => one.held.length === 1);
    const spec = { path: "/services/changing", backends: [other.url], caBundle: CA };
    await change(`${MAPPINGS}/changing`, { spec });
    const { status, body } = await untilAt(
      front,
      { path: "/services/changing", user: "alice" },
      (answer) => answer.status !== 200 || answer.body.name === "other",
    );
    expect([status, body.name]).to.deep.equal([200, "other"]);
    expect(await watch.rest()).to.deep.equal([]);
    one.held.pop()?.end("held");
    expect((await held).text).to.equal("held");
    await deleted("changing");
  });

  it("show the client certificate of their Secret, and follow its changes", async () => {
    await made("secret", {
      ...{ path: "/services/secret", backends: [one.url] },
      secretRef: { namespace: "default", name: "client" },
    });
    expect(await accepted("secret", "False SecretNotFound")).to.contain("the Secret default/client does not exist");
    expect((await front.get("/services/secret")).status).to.equal(404);
    expect((await front.send(`POST ${SECRETS}`, secret(client("first")), ADMIN)).status).to.equal(201);
    await accepted("secret", "True");
    expect((await front.get("/services/secret")).body.by).to.equal("first");
    await change(`${SECRETS}/client`, { data: secret(client("second")).data });
    await untilAt(front, { path: "/services/secret", user: "alice" }, ({ body }) => body.by === "second");
    // The proxy does not vouch for unknown callers.
    expect((await front.get("/services/secret", { user: "unknown" })).body.by).to.equal(undefined);
    await change(`${SECRETS}/client`, { data: { "tls.crt": base64("x"), "tls.key": base64("y") } });
    expect(await accepted("secret", "False InvalidSecret")).to.contain("set tls.crt");
    expect((await front.get("/services/secret")).status).to.equal(404);
    await front.send(`DELETE ${SECRETS}/client`, undefined, ADMIN);
    await accepted("secret", "False SecretNotFound");
    // Security: a Secret of another type is not used, even with the same content, because it was not made for this purpose.
    const opaque = secret(client("third"), "Opaque");
    expect((await front.send(`POST ${SECRETS}`, opaque, ADMIN)).status).to.equal(201);
    await made("opaque", {
      ...{ path: "/services/opaque", backends: [one.url] },
      secretRef: { namespace: "default", name: "client" },
    });
    await accepted("opaque", "False SecretNotFound");
    await deleted("secret");
    await deleted("opaque");
  });

  it("cannot overlap a path of the mapping or of an older object", async () => {
    for (const [name, path] of [
      ["same", "/services/fixed/"],
      ["below", "/services/fixed/deeper/still"],
    ]) {
      await made(name as string, { path, backends: [one.url] });
      expect(await accepted(name as string, "False PathTaken")).to.equal(
        `spec.path: ${path} overlaps the static mapping /services/fixed: use another path`,
      );
    }
    expect((await front.get("/services/fixed/deeper/still")).body.name).to.equal("other");
    await made("b-older", { path: "/services/old/{cluster}", backends: [other.url] });
    await accepted("b-older", "True");
    await made("c-younger", { path: "/services/old/a/b", backends: [one.url] });
    expect(await accepted("c-younger", "False PathTaken")).to.contain("of the older PathMapping b-older");
    expect((await front.get("/services/old/a/b")).body.name).to.equal("other");
    await deleted("b-older");
    await accepted("c-younger", "True");
    expect((await front.get("/services/old/a/b")).body.name).to.equal("one");
    const added = front.proxy.add({ path: "/services/old", backends: [other.url], tls: { ca: serving.cert } });
    await accepted("c-younger", "False PathTaken");
    expect((await front.get("/services/old/a/b")).body.name).to.equal("other");
    await added[Symbol.asyncDispose]();
    await accepted("c-younger", "True");
    for (const name of ["same", "below", "c-younger"]) await deleted(name);
  });

  it("are rejected if invalid, with the field", async () => {
    const spec = { path: "/services/x", backends: [one.url], caBundle: CA };
    for (const [wrong, field] of [
      [{ path: "/clusters/root" }, "spec.path"],
      [{ path: "/" }, "spec.path"],
      [{ path: "/services" }, "spec.path"],
      [{ path: "/services/" }, "spec.path"],
      [{ path: "/services/{any}" }, "spec.path"],
      [{ path: "/services/../clusters/root" }, "spec.path"],
      [{ path: "/services/a/./b" }, "spec.path"],
      [{ path: "/services/a//b" }, "spec.path"],
      [{ path: "/services/a%2Fb" }, "spec.path"],
      [{ path: undefined }, "spec.path"],
      [{ backends: [] }, "spec.backends"],
      [{ backends: undefined }, "spec.backends"],
      [{ backends: ["http://a.example"] }, "spec.backends[0]"],
      [{ backends: ["https://user:word@a.example"] }, "spec.backends[0]"],
      [{ backends: ["https://a.example", "https://a.example/?x=y"] }, "spec.backends[1]"],
      [{ caBundle: "!" }, "spec.caBundle"],
      [{ secretRef: { name: "x" } }, "spec.secretRef.namespace"],
    ] as const) {
      const answer = await make("wrong", { ...spec, ...wrong });
      expect(outcome(answer).slice(0, 2), JSON.stringify(wrong)).to.deep.equal([422, "Invalid"]);
      expect(answer.body.details.causes.map((cause: { field: string }) => cause.field)).to.contain(field);
    }
    await made("no-ca", { path: "/services/no-ca", backends: [one.url], caBundle: base64("none") });
    expect(await accepted("no-ca", "False InvalidBackend")).to.contain("invalid caBundle: use PEM certificates");
    await deleted("no-ca");
    await made("no-port", { path: "/services/no-port", backends: [one.url, "https://a.example:99999"] });
    expect(await accepted("no-port", "False InvalidBackend")).to.contain('backend "https://a.example:99999": use an');
    await deleted("no-port");
  });

  it("leave static mappings working if they cannot be read", async () => {
    const closed = await startBackend("closed");
    await closed[Symbol.asyncDispose]();
    await using nowhere = new Upstream({ url: closed.url });
    const told: string[] = [];
    await using alone = await startFront(undefined, {
      mapping: [{ path: "/services/fixed", backends: [other.url], tls: { ca: serving.cert } }],
      pathMappings: { root: nowhere },
      log: ({ message }) => told.push(message),
    });
    expect((await alone.get("/services/fixed")).body.name).to.equal("other");
    expect((await alone.get("/readyz")).text).to.equal("ok");
    expect(outcome(await alone.get("/services/some"))).to.deep.equal([
      503,
      "ServiceUnavailable",
      "the path mappings have not been read yet: try again",
    ]);
    expect(told).to.deep.equal(["cannot read PathMappings"]);
  });

  it("get the same status from several front proxies, each of which writes its result once", async () => {
    await made("shared", { path: "/services/shared", backends: [one.url] });
    await accepted("shared", "True");
    const { body } = await front.get(`${MAPPINGS}/shared`, ADMIN);
    await using second = await startFront(shards.url, {
      mapping: [CLUSTERS, { path: "/services/shared", backends: [other.url], tls: { ca: serving.cert } }],
      pathMappings: { root: root },
    });
    await accepted("shared", "False PathTaken");
    expect((await front.get("/services/shared")).body.name).to.equal("one");
    expect((await second.get("/services/shared")).body.name).to.equal("other");
    // The first proxy has seen this status and leaves it: otherwise they would overwrite each other forever.
    const marked = { ...body, metadata: { name: "later" }, spec: { ...body.spec, path: "/services/later" } };
    expect((await front.send(`POST ${MAPPINGS}`, marked, ADMIN)).status).to.equal(201);
    await accepted("later", "True");
    await accepted("shared", "False PathTaken");
    await deleted("shared");
    await deleted("later");
  });
});

// /statusz and /flagz, as kube-apiserver serves them (KEP-4827, KEP-4828).
import { allow, defineVirtualWorkspace, deny, groups } from "@virtual-workspaces/framework";
import type { Component } from "@virtual-workspaces/framework/server";
import { expect } from "chai";
import { parse } from "yaml";
import { readCbor } from "../../packages/framework/src/body/cbor/cbor-reader.ts";
import { Note } from "../_support/note.ts";
import { outcome, type PlainServer, startPlain } from "../_support/plain.ts";

const COMPONENT: Component = {
  name: "test-server",
  version: "1.2.3",
  flags: { v: "2", "audit-log-path": "", "bind-address": "0.0.0.0" },
  authorize: groups("admins"),
};
const ADMIN = { user: "admin" };
const as = (kind: string, { version = "v1beta1", type = "application/json" } = {}) => ({
  ...ADMIN,
  headers: { accept: `${type};as=${kind};v=${version};g=config.k8s.io` },
});
const WARNING =
  "Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only.";

function start(component: Component | undefined = COMPONENT, rest: object = {}): Promise<PlainServer> {
  const view = defineVirtualWorkspace({
    name: "rest",
    prefix: "/",
    path: "/",
    authorize: ({ path }) => (path === "/flagz" ? deny("the view's own rule") : allow()),
    resources: [Note.serve(Note.collection())],
  });
  const books = defineVirtualWorkspace({
    name: "books",
    path: "/clusters/:cluster/:shelf",
    authorize: allow,
    resources: [Note.serve(Note.collection())],
  });
  return startPlain([view, books], { ...(component && { component }), ...rest });
}

describe("/statusz", () => {
  it("is text with the start, the versions and the paths", async () => {
    await using server = await start();
    for (const accept of ["", "*/*", "text/plain", "application/xml, */*;q=0.1", "application/json;as=Other,*/*"]) {
      const { status, headers, text } = await server.get("/statusz", { ...ADMIN, headers: { accept } });
      expect([status, headers["content-type"]], accept).to.deep.equal([200, "text/plain; charset=utf-8"]);
      expect(headers["cache-control"]).to.equal("no-cache, private");
      const lines = text.split("\n");
      expect(lines.slice(0, 4)).to.deep.equal(["", "test-server statusz", WARNING, ""]);
      expect(lines[4]).to.match(/^Started: [A-Z][a-z]{2} [A-Z][a-z]{2} [ 1-3][0-9] [0-9:]{8} UTC 2[0-9]{3}$/);
      expect(lines[5]).to.match(/^Up: 0 hr [0-5][0-9] min [0-5][0-9] sec$/);
      expect(lines.slice(6)).to.deep.equal([
        `Go version: node ${process.version}`,
        "Binary version: 1.2.3",
        "Emulation version: 1.37",
        "Paths: /flagz /livez /readyz /statusz",
        "Virtual workspace books: /services/books/clusters/{cluster}/{shelf}",
        "Virtual workspace rest: /",
        "",
      ]);
    }
  });

  it("is structured for clients that name its kind, in JSON, YAML and CBOR", async () => {
    await using server = await start();
    const { headers, body } = await server.get("/statusz", as("Statusz"));
    expect(headers["content-type"]).to.equal("application/json");
    expect(headers).to.not.have.property("warning");
    const { startTime, uptimeSeconds, ...rest } = body;
    expect(rest).to.deep.equal({
      ...{ kind: "Statusz", apiVersion: "config.k8s.io/v1beta1", metadata: { name: "test-server" } },
      goVersion: `node ${process.version}`,
      binaryVersion: "1.2.3",
      emulationVersion: "1.37",
      paths: ["/flagz", "/livez", "/readyz", "/statusz"],
      virtualWorkspaces: [
        { name: "books", path: "/services/books/clusters/{cluster}/{shelf}" },
        { name: "rest", path: "/" },
      ],
    });
    expect(startTime).to.match(/^[-0-9]{10}T[:0-9]{8}Z$/);
    expect(uptimeSeconds).to.equal(Math.floor(uptimeSeconds));
    expect(Math.abs(Date.parse(startTime) + uptimeSeconds * 1000 - Date.now())).to.be.below(3_000);
    const yaml = await server.get("/statusz", as("Statusz", { type: "application/yaml" }));
    expect(parse(yaml.text)).to.deep.include(rest);
    const { accept = "" } = as("Statusz", { type: "application/cbor" }).headers;
    const cbor = await fetch(`${server.url}/statusz`, { headers: { authorization: "Bearer admin", accept } });
    expect(readCbor(Buffer.from(await cbor.arrayBuffer()))).to.deep.include(rest);
  });

  it("warns about v1alpha1", async () => {
    await using server = await start();
    for (const [path, kind] of [
      ["/statusz", "Statusz"],
      ["/flagz", "Flagz"],
    ] as const) {
      const { headers, body } = await server.get(path, as(kind, { version: "v1alpha1" }));
      expect(body.apiVersion).to.equal("config.k8s.io/v1alpha1");
      expect(headers["warning"]).to.equal(
        `299 - "This version of the ${path.slice(1)} endpoint is deprecated. Please use a newer version."`,
      );
    }
  });

  it("rejects other forms with 406, and writes with 405", async () => {
    await using server = await start();
    for (const accept of [
      "application/json",
      "application/xml",
      "application/json;v=v1beta1;g=config.k8s.io",
      "application/json;as=Flagz;v=v1beta1;g=config.k8s.io",
      "application/json;as=Statusz;v=v2;g=config.k8s.io",
      "text/plain;as=Statusz;v=v1beta1;g=config.k8s.io",
    ])
      expect(outcome(await server.get("/statusz", { ...ADMIN, headers: { accept } })), accept).to.deep.equal([
        ...[406, "NotAcceptable"],
        "only the following media types are accepted: application/json, application/yaml, application/cbor, text/plain",
      ]);
    const { status } = await server.send("POST /statusz", {}, ADMIN);
    expect(status).to.equal(405);
  });
});

describe("/flagz", () => {
  it("is text with the flags, sorted, or structured", async () => {
    await using server = await start();
    const { headers, text } = await server.get("/flagz?verbose", ADMIN);
    expect(headers["content-type"]).to.equal("text/plain; charset=utf-8");
    expect(text).to.equal(`\ntest-server flagz\n${WARNING}\naudit-log-path=\nbind-address=0.0.0.0\nv=2\n`);
    const { body } = await server.get("/flagz", as("Flagz"));
    expect(body).to.deep.equal({
      ...{ kind: "Flagz", apiVersion: "config.k8s.io/v1beta1", metadata: { name: "test-server" } },
      flags: COMPONENT.flags,
    });
  });
});

describe("the pages of a program", () => {
  it("are for authenticated and authorized callers only", async () => {
    await using server = await start();
    for (const path of ["/statusz", "/flagz"]) {
      expect((await fetch(server.url + path)).status, path).to.equal(401);
      expect(outcome(await server.get(path, { user: "alice" }))).to.deep.equal([
        ...[
          403,
          "Forbidden",
          `forbidden: User "alice" cannot get path "${path}": you are in no group that may do this`,
        ],
      ]);
    }
    const { authorize: _none, ...component } = COMPONENT;
    await using closed = await start(component);
    const { status, body } = await closed.get("/statusz", ADMIN);
    expect([status, body.message]).to.deep.equal([
      403,
      'forbidden: User "admin" cannot get path "/statusz": this server has no rule for reading the pages of the program',
    ]);
  });

  it("list the paths of a view that only forwards", async () => {
    const forwarding = defineVirtualWorkspace({
      ...{ name: "mapped", prefix: "/mapped", path: "/", authorize: allow, handle: (_req, res) => void res.end() },
      mappedPaths: () => ["/mapped/one/"],
    });
    await using server = await startPlain([forwarding], { component: COMPONENT });
    const { body } = await server.get("/statusz", as("Statusz"));
    expect(body.virtualWorkspaces).to.deep.equal([{ name: "mapped", path: "/mapped", mappedPaths: ["/mapped/one/"] }]);
  });

  it("leave paths that are off to the views", async () => {
    await using server = await start({ ...COMPONENT, flags: undefined, statusz: true });
    expect((await server.get("/statusz", as("Statusz"))).body.paths).to.deep.equal(["/livez", "/readyz", "/statusz"]);
    expect((await server.get("/flagz", ADMIN)).body.message).to.match(/the view's own rule$/);
    await using none = await start({ ...COMPONENT, statusz: false });
    expect((await none.get("/statusz", ADMIN)).status).to.equal(404);
    expect((await none.get("/flagz", ADMIN)).status).to.equal(200);
  });
});

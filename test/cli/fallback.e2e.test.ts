// Views of kcp that this server lacks, at another server (--fallback-url): the caller there is the caller here.
import { join } from "node:path";
import { expect } from "chai";
import { root } from "../../tools/install.mjs";
import { type Answer, Apart, ask, Serve } from "./support/views-of-workspaces.ts";

const REPLICATION = join(root, "test/cli/fixtures/replication.fixture.ts");

describe("kcp's views at another server", function () {
  this.timeout(120_000);
  let apart: Apart;
  let elsewhere: Serve;
  let here: Serve;

  before(async () => {
    apart = await Apart.ready({ view: REPLICATION });
    elsewhere = apart.views;
    const { path } = apart.folder;
    here = await Serve.ready([
      ...["--kubeconfig", apart.shard.path("admin.kubeconfig"), "--context", "shard-base"],
      ...["--client-ca-file", `${path}/ca.crt`, "--bind-address", "127.0.0.1", "--secure-port", "0"],
      ...["--tls-cert-file", `${path}/tls.crt`, "--tls-private-key-file", `${path}/tls.key`],
      ...[`--fallback-url=https://127.0.0.1:${elsewhere.port}`, `--fallback-ca-file=${path}/ca.crt`],
      ...[`--fallback-client-cert-file=${path}/shard.crt`, `--fallback-client-key-file=${path}/shard.key`],
    ]);
  });

  after(async () => {
    await here?.[Symbol.asyncDispose]();
    await apart?.[Symbol.asyncDispose]();
  });

  const asked = (path: string, headers = {}): Promise<Answer> =>
    ask(`https://127.0.0.1:${here.port}/services/${path}`, { ca: apart.authority.ca, headers });

  it("receive the whole caller and every byte of the request, which appears in the metrics", async () => {
    const { code, body } = await asked("replication/a%20b/c?d=%2F", { authorization: "Bearer alice-token" });
    expect(code, body).to.equal(200);
    const { user, tail, search, hops, headers } = JSON.parse(body);
    expect({ user, tail, search, hops }).to.deep.equal({
      user: { name: "alice", uid: "uid-of-alice", groups: ["dev", "staff", "system:authenticated"], extra: {} },
      ...{ tail: "/a%20b/c", search: "?d=%2F", hops: 1 },
    });
    expect(headers.join("\n")).to.not.match(/alice-token/);
  });

  it("do not receive identity headers of clients", async () => {
    const forged = {
      ...{ "x-remote-user": "mallory", "x-remote-group": "system:masters", "x-remote-extra-scopes": "all" },
      ...{ x_remote_user: "mallory", "x-forwarded-for": "10.9.8.7" },
    };
    const { body } = await asked("replication/", { ...forged, authorization: "Bearer bob-token" });
    const { user, headers } = JSON.parse(body);
    expect(user).to.include({ name: "bob" });
    expect(headers.join("\n")).to.not.match(/mallory|10\.9\.8\.7|remote/i);
    expect(JSON.parse((await asked("replication/", forged)).body).user.name).to.equal("system:anonymous");
    const as = { "impersonate-user": "mallory", "impersonate-group": "system:masters" };
    expect((await asked("replication/", { ...as, authorization: "Bearer bob-token" })).code).to.equal(403);
    const listing = { connection: "close, impersonate-user" };
    expect((await asked("replication/", { ...listing, authorization: "Bearer bob-token" })).code).to.equal(400);
  });

  it("are kcp's only: other paths there are unreachable", async () => {
    for (const path of ["whoami/", "replicationx/", "%72eplication/", "metrics", ""])
      expect((await asked(path, { authorization: "Bearer root-token" })).code, path).to.equal(404);
    const { body } = await asked("migratingworkspaces/clusters/a", { authorization: "Bearer root-token" });
    expect(JSON.parse(body).message, "what the other says").to.match(
      /^the view migratingworkspaces of kcp is not served/,
    );
  });

  it("are 503 while the server is unavailable, with its name", async () => {
    await elsewhere[Symbol.asyncDispose]();
    const { code, body } = await asked("replication/", { authorization: "Bearer bob-token" });
    expect(code).to.equal(503);
    expect(JSON.parse(body)).to.include({ kind: "Status", reason: "ServiceUnavailable" });
    expect(JSON.parse(body).message).to.match(/^the server of kcp's other views /);
    expect(body, "where it is").to.not.include(String(elsewhere.port));
  });
});

// Authentication of `virtual-workspaces start` by an issuer, a front proxy and certificates of external authorities, and its
// rejections.
import { once } from "node:events";
import type { IncomingMessage, OutgoingHttpHeaders } from "node:http";
import { request } from "node:https";
import { join } from "node:path";
import { expect } from "chai";
import { type Tree, tree } from "../_setup/tree.ts";
import { Authority, type KeyPair } from "../_support/certificates.ts";
import { TestIssuer } from "../_support/issuer.ts";
import { Start } from "./support/start.ts";

const WHO = "/clusters/root/apis/authentication.k8s.io/v1/selfsubjectreviews";

describe("virtual-workspaces start authenticates users", function () {
  this.timeout(60_000);

  interface Credentials {
    readonly pair?: KeyPair;
    readonly headers?: OutgoingHttpHeaders;
  }

  /** Returns the name and groups of the user, or the code of the rejection. */
  async function whoami(server: Start, { pair, headers }: Credentials): Promise<unknown> {
    const req = request(server.url + WHO, {
      method: "POST",
      ca: server.text("apiserver.crt"),
      headers: { "content-type": "application/json", ...headers },
      agent: false,
      ...pair,
    }).end('{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}');
    const [res] = (await once(req, "response")) as [IncomingMessage];
    let body = "";
    for await (const piece of res.setEncoding("utf8")) body += piece;
    if (res.statusCode !== 201) return res.statusCode;
    const { username, groups } = JSON.parse(body).status.userInfo;
    return [username, ...groups.filter((group: string) => !group.startsWith("system:"))];
  }

  it("by tokens of an issuer, with the issuer in their names", async () => {
    await using issuer = await TestIssuer.start();
    using files: Tree = tree({ "ca.crt": issuer.authority.cert });
    await using server = await Start.ready({
      flags: [
        ...["--oidc-issuer-url", issuer.url, "--oidc-client-id=vw", "--oidc-ca-file", join(files.path, "ca.crt")],
        ...["--oidc-groups-claim=groups", "--oidc-groups-prefix=corp:", "--oidc-required-claim=tenant=blue"],
      ],
    });
    const bearer = (claims: object): Credentials => ({
      headers: { authorization: `Bearer ${issuer.token({ groups: ["readers"], tenant: "blue", ...claims })}` },
    });
    expect(await whoami(server, bearer({}))).to.deep.equal([`${issuer.url}#jane`, "corp:readers"]);
    expect(await whoami(server, bearer({ tenant: "red" }))).to.equal(401);
    expect(await whoami(server, bearer({ aud: "others" }))).to.equal(401);
  });

  it("and creates home workspaces for members of the configured groups", async () => {
    using files = tree({ "tokens.csv": 'a-token,alice,1,"team-1"\nb-token,bob,2\n' });
    const tokens = `--token-auth-file=${join(files.path, "tokens.csv")}`;
    const ask = async (server: Start, token: string) =>
      server.kubectl("get", "workspace", "~", "--token", token, "-o", "jsonpath={.spec.cluster}");
    {
      await using server = await Start.ready({ flags: [tokens, "--home-workspaces-home-creator-groups=team-1"] });
      expect(await ask(server, "a-token")).to.equal("0 v1u4alow0iv9");
      expect(await ask(server, "b-token")).to.match(/^1 .*workspace access not permitted$/);
    }
    await using server = await Start.ready({ flags: [tokens, "--enable-home-workspaces=false"] });
    expect(await ask(server, "a-token")).to.match(/^1 .*"~" not found$/);
  });

  it("by headers of a front proxy, and by certificates, each of its own authority only", async () => {
    const proxies = Authority.root("proxies");
    const clients = Authority.root("clients");
    using files = tree({ "proxies.crt": proxies.cert, "clients.crt": clients.cert });
    await using server = await Start.ready({
      flags: [
        `--requestheader-client-ca-file=${join(files.path, "proxies.crt")}`,
        "--requestheader-allowed-names=front-proxy",
        "--requestheader-username-headers=X-Remote-User,X-Other-User",
        `--client-ca-file=${join(files.path, "clients.crt")}`,
      ],
    });
    expect(server.has("client-ca.key"), "no authority is made beside it").to.equal(false);
    const proxy = proxies.issue({ name: "front-proxy" });
    const told = { "x-other-user": "alice", "x-remote-group": "staff" };
    expect(await whoami(server, { pair: proxy, headers: told })).to.deep.equal(["alice", "staff"]);
    const client = clients.issue({ name: "bob", organizations: ["crew"] });
    expect(await whoami(server, { pair: client, headers: told })).to.deep.equal(["bob", "crew"]);
    expect(await whoami(server, { pair: proxies.issue({ name: "mallory" }), headers: told })).to.equal(401);
    expect(await whoami(server, { pair: clients.issue({ name: "front-proxy" }), headers: told })).to.deep.equal([
      "front-proxy",
    ]);
  });
});

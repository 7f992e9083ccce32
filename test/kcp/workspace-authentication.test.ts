// Authentication for workspaces of a type, from types and configurations that shards report in any order.
import type { KubeObject } from "@virtual-workspaces/apimachinery";
import { memberOf } from "@virtual-workspaces/apimachinery/json";
import type { User } from "@virtual-workspaces/framework";
import type { JwtAuthenticator } from "@virtual-workspaces/framework/authn";
import {
  type AuthenticatingType,
  authenticatingType,
  WorkspaceAuthentication,
  type WorkspaceAuthenticators,
  workspaceAuthenticators,
} from "@virtual-workspaces/kcp/authentication";
import { expect } from "chai";
import { testLog } from "../_setup/log.ts";
import { publicJwk, signed, signingKey } from "../_support/issuer.ts";

const key = signingKey();
const ISSUER = "https://login.example";
/** Returns a configuration with given keys, so that no request goes to the issuer. */
const jwt = (prefix: string, more: Partial<JwtAuthenticator> = {}): JwtAuthenticator[] => [
  {
    issuer: { url: ISSUER, audiences: ["vw"], keys: { keys: [publicJwk(key)] } },
    claimMappings: { username: { claim: "sub", prefix }, groups: { claim: "groups", prefix } },
    ...more,
  },
];
const token = (claims: object = {}): string => {
  const exp = Math.floor(Date.now() / 1000) + 3600;
  const all = { iss: ISSUER, aud: "vw", sub: "jane", exp, ...claims };
  return signed({ alg: "ES256", kid: key.kid }, all, { key: key.privateKey, alg: "ES256" });
};

const TYPE: AuthenticatingType = { cluster: "org", path: "root:org", name: "team", configurations: ["a"] };
const A: WorkspaceAuthenticators = { cluster: "org", name: "a", jwt: jwt("a:") };

async function login(
  authentication: WorkspaceAuthentication,
  claims: object = {},
  place = { cluster: "one", type: "root:org:team" },
): Promise<User | undefined> {
  return authentication.of(place)?.authenticateToken(token(claims));
}

describe("authentication for workspaces of a type", () => {
  let authentication: WorkspaceAuthentication;
  beforeEach(() => {
    authentication = new WorkspaceAuthentication();
  });
  const name = async (place?: { cluster: string; type: string }) => (await login(authentication, {}, place))?.name;
  const isOpen = (type: string | undefined): boolean => authentication.of({ cluster: "one", type }) !== undefined;

  it("accepts the tokens of its configurations, in whatever order they are reported", async () => {
    authentication.setType("root", TYPE);
    expect(isOpen("root:org:team")).to.equal(false);
    authentication.setConfiguration("root", A);
    expect(await name()).to.equal("a:jane");
    for (const type of [undefined, "", "team", "root:org", "root:org:other", "org:team", "root:team"])
      expect(isOpen(type), type).to.equal(false);
    authentication.setType("root", { ...TYPE, name: "plain", configurations: [] });
    expect(isOpen("root:org:plain")).to.equal(false);
  });

  it("uses the name of the type's logical cluster without a path", async () => {
    authentication.setConfiguration("root", A);
    authentication.setType("root", { ...TYPE, path: undefined });
    expect(await name({ cluster: "one", type: "org:team" })).to.equal("a:jane");
    expect(isOpen("root:org:team")).to.equal(false);
  });

  it("changes with the type and its configuration", async () => {
    authentication.setConfiguration("root", A);
    authentication.setConfiguration("root", { ...A, name: "b", jwt: jwt("b:") });
    authentication.setType("root", TYPE);
    expect(await name()).to.equal("a:jane");
    authentication.setType("root", { ...TYPE, configurations: ["b", "a"] });
    expect(await name()).to.equal("b:jane");
    authentication.setConfiguration("root", { ...A, name: "b", jwt: jwt("c:") });
    expect(await name()).to.equal("c:jane");
    authentication.deleteConfiguration("root", { cluster: "org", name: "b" });
    expect(await name()).to.equal("a:jane");
    authentication.setType("root", { ...TYPE, configurations: [] });
    expect(isOpen("root:org:team")).to.equal(false);
    authentication.setType("root", TYPE);
    authentication.deleteType("root", { cluster: "org", name: "team" });
    expect(isOpen("root:org:team")).to.equal(false);
  });

  it("ignores configurations of another logical cluster or another shard", () => {
    authentication.setType("root", TYPE);
    authentication.setConfiguration("root", { ...A, cluster: "elsewhere" });
    authentication.setConfiguration("other", A);
    expect(isOpen("root:org:team")).to.equal(false);
  });

  it("accepts no token when two logical clusters claim the type's path", async () => {
    const forged = { ...TYPE, cluster: "zz" };
    authentication.setType("root", TYPE);
    authentication.setConfiguration("root", A);
    authentication.setType("root", forged);
    authentication.setConfiguration("root", { ...A, cluster: "zz", jwt: jwt("z:") });
    expect(isOpen("root:org:team")).to.equal(false);
    authentication.deleteType("root", forged);
    expect(await name()).to.equal("a:jane");
  });

  it("uses the first shard while a logical cluster is being moved", async () => {
    for (const [shard, prefix] of [
      ["b", "old:"],
      ["a", "new:"],
    ] as const) {
      authentication.setType(shard, TYPE);
      authentication.setConfiguration(shard, { ...A, jwt: jwt(prefix) });
    }
    expect(await name()).to.equal("new:jane");
    authentication.deleteShard("a");
    expect(await name()).to.equal("old:jane");
    authentication.deleteShard("b");
    expect(isOpen("root:org:team")).to.equal(false);
  });
});

describe("an authenticated user of a workspace type", () => {
  const { log, records } = testLog();
  const authentication = new WorkspaceAuthentication({ log });
  before(() => {
    const extra = [
      { key: "authentication.kcp.io/scopes", valueExpression: "'cluster:two'" },
      { key: "authentication.kcp.io/cluster-name", valueExpression: "'two'" },
      { key: "authorization.kcp.io/warrant", valueExpression: "'{}'" },
      { key: "kcp.io/test", valueExpression: "'x'" },
      { key: "other.example.com/test", valueExpression: "'passes'" },
    ];
    const claimMappings = {
      username: { claim: "sub", prefix: "" },
      groups: { claim: "groups", prefix: "" },
      uid: { claim: "sub" },
      extra,
    };
    authentication.setType("root", TYPE);
    authentication.setConfiguration("root", { ...A, jwt: jwt("", { claimMappings }) });
  });

  it("is confined to that workspace, and has no other extras that kcp reads", async () => {
    const { name, uid, groups, extra } = (await login(authentication, { groups: ["dev"] })) as User;
    expect({ name, uid, groups, extra }).to.deep.equal({
      name: "jane",
      uid: "jane",
      groups: ["dev", "system:authenticated"],
      extra: {
        "other.example.com/test": ["passes"],
        "authentication.kcp.io/scopes": ["cluster:one"],
        "authentication.kcp.io/cluster-name": ["one"],
      },
    });
  });

  it("is in no system group", async () => {
    const groups = [
      "system:masters",
      "system:kcp:admin",
      "system:unauthenticated",
      "system:authenticated",
      "a system:x",
    ];
    expect((await login(authentication, { groups }))?.groups).to.deep.equal(["a system:x", "system:authenticated"]);
  });

  it("is no system user", async () => {
    for (const sub of ["system:admin", "system:serviceaccount:default:robot", "system:anonymous", "system:"])
      expect(await login(authentication, { sub }), sub).to.equal(undefined);
    const reason = "the names of its users must not begin with system:";
    expect(records[0]).to.deep.equal({ level: "info", message: "token rejected", issuer: ISSUER, reason });
  });
});

describe("authentication settings of types and configurations", () => {
  const object = (spec: object, annotations = { "kcp.io/cluster": "org", "kcp.io/path": "root:org" }): KubeObject => ({
    apiVersion: "tenancy.kcp.io/v1alpha1",
    kind: "X",
    metadata: { name: "x", annotations },
    spec,
  });

  it("are read from the objects", () => {
    const at = { cluster: "org", name: "x" };
    const spec = { authenticationConfigurations: [{ name: "a" }, { name: "b" }] };
    expect(authenticatingType(object(spec) as never)).to.deep.equal({
      ...at,
      path: "root:org",
      configurations: ["a", "b"],
    });
    expect(authenticatingType(object({}) as never)).to.deep.include({ configurations: [] });
    expect(authenticatingType(object(spec, {} as never) as never)).to.equal(undefined);
    expect(workspaceAuthenticators(object({ jwt: [] }, {} as never) as never)).to.equal(undefined);
  });

  it("contain no keys: the issuer's published keys count", () => {
    const [one] = jwt("");
    const read = workspaceAuthenticators(
      object({ jwt: [one, { issuer: { url: ISSUER }, claimMappings: {} }] }) as never,
    );
    expect(read?.jwt.map(({ issuer }) => memberOf(issuer as never, "keys"))).to.deep.equal([undefined, undefined]);
    expect(read?.jwt[1]).to.deep.equal({
      issuer: { url: ISSUER, audiences: [] },
      claimMappings: { username: {} },
      claimValidationRules: [],
      userValidationRules: [],
    });
  });
});

// The file of --authentication-config: errors have Kubernetes' texts, recorded from k8s.io/apiserver 0.37
// (ValidateAuthenticationConfiguration), and valid files take effect.
import { readFileSync } from "node:fs";
import { authenticationConfiguration, jwt } from "@virtual-workspaces/framework/authn";
import { expect } from "chai";
import { testLog } from "../_setup/log.ts";
import { TestIssuer } from "../_support/issuer.ts";
import { startJwt } from "../_support/jwt-server.ts";

interface Case {
  readonly name: string;
  readonly text: unknown;
  /** "" if it is valid. */
  readonly says: string;
}

const fixture = new URL("./fixtures/authentication-configurations.snapshot.json", import.meta.url);
const cases = JSON.parse(readFileSync(fixture, "utf8")) as readonly Case[];

function problem(text: string): string {
  try {
    authenticationConfiguration(text);
    return "";
  } catch (error) {
    return (error as Error).message;
  }
}

describe("authentication configurations that Kubernetes validated", () => {
  for (const { name, text, says } of cases)
    it(name, () => {
      const source = typeof text === "string" ? text : JSON.stringify(text);
      expect(problem(source)).to.equal(says === "" ? "" : `authentication configuration: ${says}`);
    });
});

const HEAD = "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\n";
const JWT = `jwt:
- issuer: { url: "https://a.example", audiences: [x] }
  claimMappings: { username: { claim: sub, prefix: "" } }
`;

describe("an authentication configuration", () => {
  const faults: Record<string, string> = {
    "": "document is not an object: write an object of kind AuthenticationConfiguration",
    "- a": "document is not an object: write an object of kind AuthenticationConfiguration",
    "{": "yaml: line 1 column 2: Flow map must end with a }",
    "apiVersion: apiserver.config.k8s.io/v1": "kind is missing: set kind to AuthenticationConfiguration",
    "kind: AuthenticationConfiguration": 'no kind "AuthenticationConfiguration" is registered for version ""',
    "apiVersion: apiserver.config.k8s.io/v2\nkind: AuthenticationConfiguration":
      'no kind "AuthenticationConfiguration" is registered for version "apiserver.config.k8s.io/v2"',
    "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration":
      'no kind "AuthorizationConfiguration" is registered for version "apiserver.config.k8s.io/v1"',
    [`${HEAD}foo: 1`]: 'strict decoding error: unknown field "foo"',
    [`${HEAD}${JWT}  foo: 1`]: 'strict decoding error: unknown field "jwt[0].foo"',
    [`${HEAD}${JWT}${JWT}`]: 'strict decoding error: line 7: key "jwt" already set in map',
    [`${HEAD}${JWT.replace("audiences", "keys: { keys: [] }, audiences")}`]:
      'strict decoding error: unknown field "jwt[0].issuer.keys"',
    [`${HEAD}${JWT.replace("[x]", "x")}`]:
      'jwt[0].issuer.audiences: Invalid value: "string": jwt[0].issuer.audiences in body must be of type array: "string"',
    [`${HEAD}${JWT.replace("audiences", "egressSelectorType: cluster, audiences")}`]:
      "jwt[0].issuer.egressSelectorType: Forbidden: egress selectors are not supported: leave it out",
  };
  for (const [text, fault] of Object.entries(faults))
    it(`is rejected: ${fault}`, () => expect(problem(text)).to.equal(`authentication configuration: ${fault}`));

  it("returns its content, including anonymous callers", () => {
    const read = authenticationConfiguration(
      `${HEAD}${JWT}anonymous: { enabled: true, conditions: [{ path: /livez }] }`,
    );
    expect(read.anonymous).to.deep.equal({ enabled: true, conditions: [{ path: "/livez" }] });
    expect(read.authenticators.map(({ name }) => name)).to.deep.equal(["jwt", "anonymous"]);
    expect(read.jwt.map(({ issuer }) => issuer)).to.deep.equal([{ url: "https://a.example", audiences: ["x"] }]);
    const none = authenticationConfiguration(HEAD);
    expect(none).to.deep.equal({ jwt: [], anonymous: undefined, authenticators: [] });
  });

  it("takes effect, for several issuers", async () => {
    await using a = await TestIssuer.start({ path: "/a" });
    await using b = await TestIssuer.start({ path: "/b/" });
    const authority = (issuer: TestIssuer): string => issuer.authority.cert.trim().replaceAll("\n", "\n      ");
    const text = `${HEAD}
jwt:
- issuer:
    url: ${a.url}
    audiences: [vw]
    certificateAuthority: |
      ${authority(a)}
  claimValidationRules:
  - claim: hd
    requiredValue: example.com
  - expression: claims.exp - claims.iat <= 86400
    message: lives for more than a day
  claimMappings:
    username: { expression: '"a:" + claims.preferred_username' }
    groups: { expression: "claims.roles.split(',').map(role, 'a:' + role)" }
    uid: { claim: sub }
    extra:
    - { key: example.com/tenant, valueExpression: claims.tenant.id }
  userValidationRules:
  - expression: "!user.groups.exists(group, group.startsWith('system:'))"
    message: groups may not be the system's
- issuer:
    url: ${b.url}
    audiences: [one, two]
    audienceMatchPolicy: MatchAny
    certificateAuthority: |
      ${authority(b)}
  claimMappings:
    username: { claim: email, prefix: "b:" }
    groups: { claim: groups, prefix: "b:" }
`;
    const { log } = testLog();
    await using server = await startJwt(authenticationConfiguration(text, { log }));
    const claims = { hd: "example.com", preferred_username: "jane", roles: "x,y", tenant: { id: "t1" } };
    expect(await server.ask(a.token(claims))).to.deep.equal({
      name: "a:jane",
      uid: "jane",
      groups: ["a:x", "a:y", "system:authenticated"],
      extra: { "example.com/tenant": ["t1"] },
    });
    const mail = { email: "j@example.com", email_verified: true, aud: ["two"], groups: "readers" };
    expect(await server.ask(b.token(mail))).to.deep.equal({
      name: "b:j@example.com",
      uid: "",
      groups: ["b:readers", "system:authenticated"],
      extra: {},
    });
  });
});

describe("jwt()", () => {
  const issuer = { url: "https://a.example", audiences: ["x"] };
  const claimMappings = { username: { claim: "sub", prefix: "" } };

  it("names the invalid fields", () => {
    expect(() => jwt({ issuer: { ...issuer, url: "" }, claimMappings })).to.throw("jwt[0].issuer.url: Required value");
    expect(() =>
      jwt([
        { issuer, claimMappings },
        { issuer, claimMappings },
      ]),
    ).to.throw('jwt[1].issuer.url: Duplicate value: "https://a.example"');
  });

  it("accepts only public keys, and no discovery URL beside them", () => {
    const keys = (given: unknown) => () =>
      jwt({ issuer: { ...issuer, url: "x", keys: given as string }, claimMappings });
    const pem = "-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----";
    expect(keys("x")).to.throw('jwt[0].issuer.keys: Invalid value: "<omitted>": no PEM block found');
    expect(keys(pem)).to.throw('unsupported PEM block "PRIVATE KEY"');
    expect(keys(pem.replaceAll("PRIVATE", "PUBLIC"))).to.throw("jwt[0].issuer.keys: Invalid value");
    expect(keys([])).to.throw("not a JSON Web Key Set");
    expect(keys({ keys: {} })).to.throw("not a JSON Web Key Set");
    const both = { ...issuer, discoveryURL: "https://b.example/d", keys: { keys: [] } };
    expect(() => jwt({ issuer: both, claimMappings })).to.throw("keys are given: leave it out");
  });
});

// Mapping of claims to users, and the rules for both, as in Kubernetes; tested with requests to a server.
import type {
  ClaimMappings,
  ClaimValidationRule,
  JwtAuthenticator,
  UserValidationRule,
} from "@virtual-workspaces/framework/authn";
import { expect } from "chai";
import { type Json, TestIssuer } from "../_support/issuer.ts";
import { startJwt } from "../_support/jwt-server.ts";

type Config = Omit<JwtAuthenticator, "issuer">;

const SUB: ClaimMappings = { username: { claim: "sub", prefix: "" } };
const username = (expression: string): Config => ({ claimMappings: { username: { expression } } });
const groups = (expression: string): Config => ({ claimMappings: { ...SUB, groups: { expression } } });
const groupsOf = (claim: string, prefix: string): Config => ({ claimMappings: { ...SUB, groups: { claim, prefix } } });
const extra = (valueExpression: string): Config => ({
  claimMappings: { ...SUB, extra: [{ key: "example.com/x", valueExpression }] },
});
const claimRule = (rule: ClaimValidationRule): Config => ({ claimMappings: SUB, claimValidationRules: [rule] });
const userRule = (rule: UserValidationRule, mappings: Partial<ClaimMappings> = {}): Config => ({
  claimMappings: { ...SUB, ...mappings },
  userValidationRules: [rule],
});

/** The differences from Jane without groups, or the reason for the rejection. */
type Outcome = { name?: string; uid?: string; groups?: readonly string[]; extra?: Json } | RegExp;
type Row = readonly [what: string, config: Config, claims: Json, outcome: Outcome];

const EMAIL: Config = { claimMappings: { username: { claim: "email", prefix: "mail:" } } };
const mail = "j@example.com";
const VERIFIED = "claims.?email_verified.orValue(true) == true ? claims.email : claims.sub";

const rows: readonly Row[] = [
  ["a claim with a prefix", { claimMappings: { username: { claim: "n", prefix: "p#" } } }, { n: "x" }, { name: "p#x" }],
  [
    "an empty claim with a prefix",
    { claimMappings: { username: { claim: "n", prefix: "p#" } } },
    { n: "" },
    /user name is empty/,
  ],
  [
    "a claim named like what all objects have",
    { claimMappings: { username: { claim: "toString", prefix: "" } } },
    {},
    /claim toString is missing/,
  ],
  [
    "a claim named __proto__",
    { claimMappings: { username: { claim: "__proto__", prefix: "" } } },
    {},
    /claim __proto__ is missing/,
  ],
  ["a verified address", EMAIL, { email: mail, email_verified: true }, { name: `mail:${mail}` }],
  ["an address without email_verified", EMAIL, { email: mail }, { name: `mail:${mail}` }],
  ["an unverified address", EMAIL, { email: mail, email_verified: false }, /email is not verified/],
  [
    "an address with email_verified as a string",
    EMAIL,
    { email: mail, email_verified: "true" },
    /email is not verified/,
  ],
  ["an address with email_verified null", EMAIL, { email: mail, email_verified: null }, /email is not verified/],
  ["an expression", username("'a:' + claims.sub.upperAscii()"), {}, { name: "a:JANE" }],
  ["a verified address by expression", username(VERIFIED), { email: mail, email_verified: false }, { name: "jane" }],
  [
    "an expression that is not a string",
    username("claims.groups"),
    { groups: ["a"] },
    /username.expression must be a string/,
  ],
  ["an empty expression result", username("claims.n"), { n: "" }, /user name is empty/],
  [
    "an expression of a claim that is not there",
    username("claims.n"),
    {},
    /username.expression could not be evaluated: no such key$/,
  ],
  [
    "an expression that fails on a value",
    username("string(timestamp(claims.n))"),
    { n: "s3cret" },
    /username.expression could not be evaluated: evaluation failed$/,
  ],
  ["an escaped name", username("claims.a__dash__b.c__dot__d"), { "a-b": { "c.d": "x" } }, { name: "x" }],
  ["a name in brackets", username("claims['https://x/y'].z[0]"), { "https://x/y": { z: ["x"] } }, { name: "x" }],

  ["groups: a list", groupsOf("g", "p:"), { g: ["a", "b"] }, { groups: ["p:a", "p:b"] }],
  ["groups: a string", groupsOf("g", ""), { g: "a" }, { groups: ["a"] }],
  ["groups: none", groupsOf("g", ""), {}, {}],
  ["groups: null", groupsOf("g", ""), { g: null }, {}],
  ["groups: empty strings", groupsOf("g", "p:"), { g: ["", "a"] }, { groups: ["p:a"] }],
  ["groups: a nested claim", groups("claims.realm.roles"), { realm: { roles: ["a", "b"] } }, { groups: ["a", "b"] }],
  ["groups: joined", groups("claims.a + claims.b"), { a: ["x"], b: ["y"] }, { groups: ["x", "y"] }],
  [
    "groups: chosen",
    groups("claims.g.filter(g, g.startsWith('k8s-')).map(g, g.substring(4))"),
    { g: ["k8s-a", "b"] },
    { groups: ["a"] },
  ],
  ["groups: an optional claim", groups("claims.?g.orValue([])"), {}, {}],
  ["groups: an optional string", groups("claims.?g.orValue('')"), {}, {}],
  [
    "groups: 3,000",
    groups("claims.g.map(g, 'oidc:' + g)"),
    { g: Array.from({ length: 3000 }, (_, n) => `g${n}`) },
    { groups: Array.from({ length: 3000 }, (_, n) => `oidc:g${n}`) },
  ],
  ["groups: numbers", groups("claims.g"), { g: [1] }, /groups.expression must be/],
  ["groups: a map", groups("claims.g"), { g: { a: 1 } }, /groups.expression must be/],
  [
    "groups: twice as long a look as there is time for",
    groups("claims.g.filter(a, claims.g.all(b, a == b || a != b))"),
    { g: Array.from({ length: 3000 }, (_, n) => `g${n}`) },
    /too large to be evaluated in time/,
  ],

  ["a uid", { claimMappings: { ...SUB, uid: { claim: "id" } } }, { id: "7" }, { uid: "7" }],
  ["a missing uid", { claimMappings: { ...SUB, uid: { claim: "id" } } }, {}, /claim id is missing/],
  [
    "a uid that is a number",
    { claimMappings: { ...SUB, uid: { claim: "id" } } },
    { id: 7 },
    /claim id must be a string/,
  ],
  [
    "a uid by expression",
    { claimMappings: { ...SUB, uid: { expression: "string(int(claims.id))" } } },
    { id: 7 },
    { uid: "7" },
  ],

  ["extra: a string", extra("claims.t"), { t: "a" }, { extra: { "example.com/x": ["a"] } }],
  ["extra: a list", extra("claims.t"), { t: ["a", "", "b"] }, { extra: { "example.com/x": ["a", "b"] } }],
  ["extra: null", extra("claims.t"), { t: null }, {}],
  ["extra: an empty string", extra("''"), {}, {}],
  ["extra: a number", extra("claims.t"), { t: 1 }, /valueExpression must be/],

  ["a required value", claimRule({ claim: "hd", requiredValue: "x" }), { hd: "x" }, {}],
  [
    "another value",
    claimRule({ claim: "hd", requiredValue: "x" }),
    { hd: "y" },
    /claim hd does not have the required value$/,
  ],
  ["a missing value", claimRule({ claim: "hd", requiredValue: "x" }), {}, /claim hd is missing/],
  [
    "a required value in a list",
    claimRule({ claim: "hd", requiredValue: "x" }),
    { hd: ["x"] },
    /claim hd must be a string/,
  ],
  ["a required empty value", claimRule({ claim: "hd" }), { hd: "" }, {}],
  ["a satisfied rule", claimRule({ expression: "claims.n == 3 && claims.n < 3.5" }), { n: 3 }, {}],
  [
    "a rule that does not",
    claimRule({ expression: "claims.n == 3", message: "must be three" }),
    { n: 4 },
    /^jwt\[0\].claimValidationRules\[0\].expression is not satisfied: must be three$/,
  ],
  [
    "a rule that fails",
    claimRule({ expression: "claims.n == 3" }),
    {},
    /claimValidationRules\[0\].expression could not be evaluated/,
  ],
  ["a rule with large numbers", claimRule({ expression: "claims.n > 9000000000000000.0" }), { n: 2 ** 60 }, {}],

  [
    "a rule about the user",
    userRule({ expression: "!user.username.startsWith('system:')" }),
    { sub: "system:admin" },
    /userValidationRules\[0\].expression is not satisfied$/,
  ],
  ["a satisfied user rule", userRule({ expression: "!user.username.startsWith('system:')" }), {}, {}],
  [
    "one about groups",
    userRule(
      { expression: "user.groups.all(g, !g.startsWith('system:'))", message: "no" },
      { groups: { claim: "g", prefix: "" } },
    ),
    { g: ["a", "system:masters"] },
    /is not satisfied: no$/,
  ],
  [
    "one about all of the user",
    userRule({
      expression:
        "user.uid == '' && size(user.groups) == 0 && user.extra['authentication.kubernetes.io/credential-id'] == ['JTI=1']",
    }),
    { jti: "1" },
    { extra: { "authentication.kubernetes.io/credential-id": ["JTI=1"] } },
  ],
];

describe("claims", () => {
  let issuer: TestIssuer;
  before(async () => {
    issuer = await TestIssuer.start();
  });
  after(() => issuer[Symbol.asyncDispose]());

  for (const [what, config, claims, outcome] of rows)
    it(outcome instanceof RegExp ? `let nobody in: ${what}` : `make a user: ${what}`, async () => {
      await using server = await startJwt([{ issuer: issuer.config().issuer, ...config }]);
      const user = await server.ask(issuer.token(claims));
      if (outcome instanceof RegExp) {
        expect(user).to.equal(undefined);
        expect(String(server.reasons()[0])).to.match(outcome);
        expect(JSON.stringify(server.records)).not.to.include("s3cret");
      } else {
        const { groups = [], ...others } = outcome;
        const expected = { name: "jane", uid: "", extra: {}, ...others, groups: [...groups, "system:authenticated"] };
        expect(user).to.deep.equal(expected);
        expect(server.reasons()).to.deep.equal([]);
      }
    });
});

// WorkspaceAuthenticationConfigurations on a server: rules for combinations of fields.
import { WorkspaceAuthenticationConfiguration } from "@virtual-workspaces/kcp";
import { expect } from "chai";
import { causes, NOT_CHECKED, startKcp } from "./support/served.ts";

const ISSUER = { url: "https://login.example" };
const NAMED = { username: { claim: "sub" } };

describe("WorkspaceAuthenticationConfigurations", () => {
  it("need issuers with their required fields", async () => {
    await using server = await startKcp(WorkspaceAuthenticationConfiguration);
    const wrong = async (content: object) => causes(await server.make(content));
    expect(await wrong({})).to.deep.equal(["spec: Required value", NOT_CHECKED]);
    expect(await wrong({ spec: {} })).to.deep.equal(["spec.jwt: Required value", NOT_CHECKED]);
    const claimMappings = { ...NAMED, extra: [{}] };
    const jwt = [{}, { issuer: {}, claimMappings, userValidationRules: [{}] }];
    expect(await wrong({ spec: { jwt } })).to.have.members([
      "spec.jwt[0].claimMappings: Required value",
      "spec.jwt[0].issuer: Required value",
      "spec.jwt[1].issuer.url: Required value",
      "spec.jwt[1].claimMappings.extra[0].key: Required value",
      "spec.jwt[1].claimMappings.extra[0].valueExpression: Required value",
      "spec.jwt[1].userValidationRules[0].expression: Required value",
      "spec.jwt[1].userValidationRules[0].message: Required value",
      NOT_CHECKED,
    ]);
  });

  it("map either claims or expressions", async () => {
    await using server = await startKcp(WorkspaceAuthenticationConfiguration);
    const both = { claim: "sub", expression: "claims.sub" };
    const mapped = async (claimMappings: object) =>
      causes(await server.make({ spec: { jwt: [{ issuer: ISSUER, claimMappings }] } }));
    expect(await mapped({ username: {}, groups: both, uid: both })).to.deep.equal([
      "spec.jwt[0].claimMappings.username: Invalid value: either claim or expression must be specified",
      "spec.jwt[0].claimMappings.groups: Invalid value: claim and expression cannot both be specified",
      "spec.jwt[0].claimMappings.uid: Invalid value: claim and expression cannot both be specified",
    ]);
    expect(await mapped({ username: { expression: "claims.sub", prefix: "a:" } })).to.deep.equal([
      "spec.jwt[0].claimMappings.username: Invalid value: prefix can only be specified when claim is specified",
    ]);
    expect(await mapped({ username: { claim: "sub", prefix: "a:" }, uid: {} })).to.deep.equal(["201"]);
  });

  it("require either values of claims or true expressions", async () => {
    await using server = await startKcp(WorkspaceAuthenticationConfiguration);
    const message = "no";
    const claimValidationRules = [
      {},
      { claim: "a", expression: "b" },
      { claim: "a", requiredValue: "b" },
      { claim: "a", requiredValue: "b", message },
      { expression: "a" },
      { expression: "a", message },
      { expression: "a", message, requiredValue: "b" },
    ];
    const jwt = [{ issuer: ISSUER, claimMappings: NAMED, claimValidationRules }];
    const either = "either claim or expression must be specified";
    const both = "claim and expression cannot both be specified";
    const value = "requiredValue can only be specified when claim is specified";
    const says = "message can only be specified when expression is specified";
    expect(causes(await server.make({ spec: { jwt } }))).to.deep.equal(
      [
        ...[either, value, says].map((text) => `[0]: Invalid value: ${text}`),
        `[1]: Invalid value: ${both}`,
        `[3]: Invalid value: ${says}`,
        `[4]: Invalid value: ${says}`,
        `[6]: Invalid value: ${value}`,
      ].map((text) => `spec.jwt[0].claimValidationRules${text}`),
    );
  });

  it("have a table of names and ages, and no status", async () => {
    await using server = await startKcp(WorkspaceAuthenticationConfiguration);
    await server.make({ spec: { jwt: [] } });
    expect(await server.table()).to.deep.equal([["Name", "Age"], ["one"]]);
    expect(await server.edit("one", () => undefined, "/status")).to.have.property("status", 404);
  });
});

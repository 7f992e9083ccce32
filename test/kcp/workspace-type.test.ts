// WorkspaceTypes on a server.
import { WorkspaceType } from "@virtual-workspaces/kcp";
import { expect } from "chai";
import { causes, startKcp } from "./support/served.ts";

describe("WorkspaceTypes", () => {
  it("default the child type to universal if the spec is set", async () => {
    await using server = await startKcp(WorkspaceType);
    expect((await server.make({})).body).not.to.have.any.keys("spec", "status");
    const { body } = await server.make({ spec: {} }, "two");
    expect(body.spec).to.deep.equal({ defaultChildWorkspaceType: { name: "universal", path: "root" } });
  });

  it("must not have the names any and system, or names that no workspace can have", async () => {
    await using server = await startKcp(WorkspaceType);
    for (const name of ["any", "system"])
      expect(causes(await server.make({}, name))).to.deep.equal([
        '<nil>: Invalid value: "": "metadata.name" must not validate the schema (not)',
      ]);
    expect(causes(await server.make({}, "a.b"))).to.deep.equal([
      "metadata.name: Invalid value: \"a.b\": metadata.name in body should match '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'",
    ]);
  });

  it("limit parents and children either to none or to types", async () => {
    await using server = await startKcp(WorkspaceType);
    const limited = async (limit: object) => causes(await server.make({ spec: { limitAllowedChildren: limit } }));
    const limits = '"spec.limitAllowedChildren" must validate one and only one schema (oneOf).';
    expect(await limited({ none: true, types: [{ name: "team" }] })).to.deep.equal([
      `<nil>: Invalid value: "": ${limits} Found 2 valid alternatives`,
    ]);
    expect(await limited({})).to.deep.equal([
      `<nil>: Invalid value: "": ${limits} Found none valid`,
      "spec.limitAllowedChildren.none: Required value",
    ]);
    expect(await limited({ types: [] })).to.deep.equal([
      "spec.limitAllowedChildren.types: Invalid value: 0: spec.limitAllowedChildren.types in body should have at least 1 items",
    ]);
    expect(await limited({ types: [{ name: "team", path: "root" }] })).to.deep.equal(["201"]);
  });

  it("are rejected with a message for each invalid field", async () => {
    await using server = await startKcp(WorkspaceType);
    const spec = {
      extend: { with: [{ name: "-" }] },
      defaultAPIBindingLifecycle: "Once",
      defaultAPIBindings: [{ path: "root:-" }],
      authenticationConfigurations: [{}],
      initializerPermissions: [{}],
      terminatorPermissions: [{ verbs: "get" }],
    };
    expect(causes(await server.make({ spec }))).to.deep.equal([
      "spec.extend.with[0].name: Invalid value: \"-\": spec.extend.with[0].name in body should match '^[a-z]([a-z0-9-]{0,61}[a-z0-9])?'",
      'spec.defaultAPIBindingLifecycle: Unsupported value: "Once": supported values: "InitializeOnly", "Maintain"',
      "spec.defaultAPIBindings[0].path: Invalid value: \"root:-\": spec.defaultAPIBindings[0].path in body should match '^[a-z0-9]([-a-z0-9]*[a-z0-9])?(:[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$'",
      "spec.defaultAPIBindings[0].export: Required value",
      "spec.authenticationConfigurations[0].name: Required value",
      "spec.initializerPermissions[0].verbs: Required value",
      'spec.terminatorPermissions[0].verbs: Invalid value: "string": spec.terminatorPermissions[0].verbs in body must be of type array: "string"',
    ]);
    await server.make({});
    const broken = [{ type: "visiting", url: "" }];
    expect(
      await server.wrong(
        "one",
        [(object) => Object.assign(object, { status: { virtualWorkspaces: broken } })],
        "/status",
      ),
    ).to.deep.equal([
      [
        'status.virtualWorkspaces[0].type: Unsupported value: "visiting": supported values: "initializing", "terminating"',
        'status.virtualWorkspaces[0].url: Invalid value: "": virtualWorkspaces[0].url in body should be at least 1 chars long',
      ],
    ]);
  });

  it("have a table of names and ages", async () => {
    await using server = await startKcp(WorkspaceType);
    await server.make({});
    expect(await server.table()).to.deep.equal([["Name", "Age"], ["one"]]);
  });
});

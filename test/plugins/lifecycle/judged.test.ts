// Writes through the views of initializing and terminating workspaces are judged by the policies of the workspace.
import { expect } from "chai";
import { enact } from "../../workspace-server/admission/support/policies.ts";
import type { Workspaces } from "../../workspace-server/support/workspaces.ts";
import { MAPS, map, Owner, startViewed, UNIVERSAL } from "./support/owner.ts";

describe("policies of workspaces behind lifecycle views", function () {
  this.timeout(60_000);
  let server: Workspaces;
  let owner: Owner;

  before(async () => {
    server = await startViewed();
    owner = await Owner.make(server, {
      app: { initializer: true, ...UNIVERSAL },
      ending: { terminator: true, ...UNIVERSAL },
    });
  });
  after(async () => server?.[Symbol.asyncDispose]());

  const judge = (cluster: string) =>
    enact(server, cluster, {
      kind: "Validating",
      spec: { validations: [{ expression: "object.metadata.name != 'no'", message: "judged" }] },
    });
  const created = async (view: "initializing" | "terminating", cluster: string, type: string) => {
    const calls = owner.in(view, cluster, type);
    const answers = [await calls.send(`POST ${MAPS}`, map("no")), await calls.send(`POST ${MAPS}`, map("yes"))];
    return answers.map(({ status, body }) => [status, status === 201 ? body.metadata.name : body.message]);
  };
  const expected = [
    [
      422,
      "configmaps \"no\" is forbidden: ValidatingAdmissionPolicy 'test' with binding 'test-binding' denied request: judged",
    ],
    [201, "yes"],
  ];

  it("judge what is written before they are ready", async () => {
    const cluster = await owner.settled("one", "app");
    await judge(cluster);
    expect(await created("initializing", cluster, "app")).to.deep.equal(expected);
  });

  it("judge what is written while they are deleted", async () => {
    const cluster = await owner.settled("two", "ending");
    await owner.until(cluster, ({ body }) => body.status.phase === "Ready");
    await judge(cluster);
    await owner.remove("two");
    await owner.until(cluster, ({ body }) => body.status.phase === "Terminating");
    expect(await created("terminating", cluster, "ending")).to.deep.equal(expected);
  });
});

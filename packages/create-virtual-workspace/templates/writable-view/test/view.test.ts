import assert from "node:assert/strict";
import { test } from "node:test";
import { isApiError } from "@virtual-workspaces/client";
import { memoryStore } from "@virtual-workspaces/store";
import { startTestServer } from "@virtual-workspaces/testing";
import view, { Ticket } from "../src/view.ts";

/** Starts the view, and returns the tickets as a user in the group `red` sees them. */
async function start(stack: AsyncDisposableStack) {
  const store = stack.use(memoryStore());
  const users = { ann: { groups: ["red"] } };
  const server = stack.use(await startTestServer({ virtualWorkspaces: [view({ store })], users }));
  return server.user("ann").clientAt("/services/my-view/clusters/root").resource(Ticket);
}

test("stores tickets with defaults, and with their reporter", async () => {
  await using stack = new AsyncDisposableStack();
  const tickets = await start(stack);
  await tickets.in("red").create({ metadata: { name: "chair" }, spec: { title: "My chair is broken" } });
  const { spec } = await tickets.in("red").get("chair");
  assert.deepEqual(spec, { title: "My chair is broken", priority: "low", reporter: "ann" });
});

test("rejects a ticket of high priority without an assignee, and names the field", async () => {
  await using stack = new AsyncDisposableStack();
  const tickets = await start(stack);
  await assert.rejects(
    tickets.in("red").create({ metadata: { name: "fire" }, spec: { title: "Fire", priority: "high" } }),
    (error) => isApiError(error) && error.code === 422 && /spec\.assignee: .*name an assignee/.test(error.message),
  );
});

test("keeps teams apart", async () => {
  await using stack = new AsyncDisposableStack();
  const tickets = await start(stack);
  const isForbidden = (error: unknown) => isApiError(error) && error.code === 403;
  await assert.rejects(tickets.in("blue").list(), isForbidden);
  await assert.rejects(tickets.list(), isForbidden);
});

// A view or an upstream may build an ApiError from anything. One that HTTP cannot express is a bug of the view.
import { ApiError, type Status } from "@virtual-workspaces/apimachinery";
import { allow, defineVirtualWorkspace } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { expectFault } from "../_setup/faults.ts";
import { Note } from "../_support/note.ts";
import { startPlain } from "../_support/plain.ts";

const whole: Status = {
  kind: "Status",
  apiVersion: "v1",
  metadata: {},
  status: "Failure",
  message: "no",
  reason: "TooManyRequests",
  code: 429,
};

describe("an invalid ApiError", () => {
  for (const [what, status] of Object.entries({
    "with a code that HTTP has not": { ...whole, code: 7 },
    "with a time to come again that would end the header": { ...whole, details: { retryAfterSeconds: "5\r\n" } },
  }))
    it(`with ${what} becomes 500 and a log record; the server goes on`, async () => {
      const get = () => {
        throw new ApiError(status as Status);
      };
      const resources = [Note.serve({ get })];
      const view = defineVirtualWorkspace({ name: "notes", path: "/", authorize: () => allow(), resources });
      await using server = await startPlain([view]);
      for (const _again of [1, 2]) {
        const answer = await server.get("/services/notes/apis/test.dev/v1/notes/a");
        expect([answer.status, answer.body.reason]).to.deep.equal([500, "InternalError"]);
        expect(answer.headers).not.to.have.property("retry-after");
        expectFault(/invalid ApiError in a response/);
      }
    });
});

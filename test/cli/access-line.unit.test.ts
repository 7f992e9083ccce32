// A request is one line, whatever user name its sender has.
import type { RequestRecord } from "@virtual-workspaces/framework/server";
import { expect } from "chai";
import { accessLine } from "../../packages/cli/src/dev/serving.ts";

const RECORD: RequestRecord = {
  stage: "ResponseComplete",
  requestId: "1",
  method: "GET",
  verb: "list",
  path: "/apis",
  cluster: "root",
  user: "ann",
  impersonator: undefined,
  code: 200,
  duration: 1234.56,
  traceId: undefined,
};

function line(record: Partial<RequestRecord>): string {
  return accessLine({ ...RECORD, ...record }, new Date(2026, 10, 21, 9, 5, 7));
}

describe("the access log of dev", () => {
  it("shows time, method, path, user, code and duration", () => {
    expect(line({})).to.equal("09:05:07 GET /apis ann 200 1234.6 ms");
    expect(line({ method: "DELETE", verb: "delete", code: 405 })).to.equal("09:05:07 DELETE /apis ann 405 1234.6 ms");
  });

  it("shows the impersonator", () => {
    expect(line({ impersonator: "the boss" })).to.equal("09:05:07 GET /apis ann(the\\u{20}boss) 200 1234.6 ms");
  });

  it("shows a watch when it begins and when it ends, and no begin for a rejected watch", () => {
    const watch = { verb: "watch" };
    expect(line({ ...watch, stage: "ResponseStarted" })).to.equal("09:05:07 WATCH /apis ann 200 begins");
    expect(line(watch)).to.equal("09:05:07 WATCH /apis ann 200 ends after 1.2 s");
    expect(line({ ...watch, code: 410 })).to.equal("09:05:07 WATCH /apis ann 410 1234.6 ms");
  });

  it("marks requests without a user, and clients that left before the answer", () => {
    expect(line({ user: undefined, code: 401 })).to.equal("09:05:07 GET /apis - 401 1234.6 ms");
    expect(line({ code: 0 })).to.equal("09:05:07 GET /apis ann left 1234.6 ms");
  });

  it("does not let a client forge a line or control the terminal", () => {
    expect(line({ user: "ann\n09:05:08 GET /apis admin" })).to.equal(
      "09:05:07 GET /apis ann\\u{a}09:05:08\\u{20}GET\\u{20}/apis\\u{20}admin 200 1234.6 ms",
    );
    expect(line({ path: "/\u001b[2J", user: "ö😀\ud800" })).to.equal(
      "09:05:07 GET /\\u{1b}[2J \\u{f6}\\u{1f600}\\u{d800} 200 1234.6 ms",
    );
  });
});

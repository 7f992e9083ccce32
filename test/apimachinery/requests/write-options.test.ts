import { isApiError, type Status } from "@virtual-workspaces/apimachinery";
import { parseDeleteOptions, parseWriteOptions } from "@virtual-workspaces/apimachinery/requests";
import { expect } from "chai";
import { computed } from "../../_support/cpu.ts";

function refusal(act: () => unknown): Status {
  try {
    act();
  } catch (error) {
    if (isApiError(error)) return error.status;
    throw error;
  }
  throw new Error("not refused");
}

describe("write options", () => {
  it("report only some of very many invalid characters of a manager", () => {
    const query = new URLSearchParams({ fieldManager: "\u202e".repeat(100_000) });
    const started = computed();
    const { details } = refusal(() => parseWriteOptions(query, { kind: "CreateOptions" }));
    expect(computed() - started, "milliseconds").to.be.below(500);
    expect(details?.causes?.[0]?.message).to.equal("Too long: may not be more than 128 bytes");
    expect(details?.causes).to.have.length.within(2, 1000);
  });

  for (const [text, what] of [
    ["soon", "invalid syntax"],
    ["9223372036854775808", "value out of range"],
  ] as const) {
    it(`of a delete reject a grace period of ${text}`, () => {
      const { code, message } = refusal(() =>
        parseDeleteOptions(new URLSearchParams({ gracePeriodSeconds: text }), undefined),
      );
      expect([code, message]).to.deep.equal([400, `strconv.ParseInt: parsing "${text}": ${what}`]);
    });
  }

  it("of a delete parse a query like those of a list", () => {
    const query = new URLSearchParams("gracePeriodSeconds=%2B007&orphanDependents=False");
    expect(parseDeleteOptions(query, undefined)).to.deep.equal({
      dryRun: false,
      gracePeriodSeconds: 7,
      orphanDependents: false,
    });
  });
});

// The chart of the page about performance is that of the recorded figures.
import { readFileSync } from "node:fs";
import { expect } from "chai";
import { chartOf, readRecorded } from "../../bench/_harness/recorded.ts";

describe("the chart of the recorded comparison with kcp", () => {
  it("shows the recorded ratios", () => {
    const recorded = readRecorded();
    expect(recorded?.figures.filter(({ unit }) => unit === "ratio")).to.have.length.above(5);
    if (recorded === undefined) return;
    expect(readFileSync("docs/explanation/performance.svg", "utf8")).to.equal(chartOf(recorded));
  });

  it("draws a rate by how many times more, and a cost by how many times less", () => {
    const figure = { unit: "ratio", rival: "kcp", goal: null, met: null };
    const chart = chartOf({
      date: "2026-01-01",
      kcp: "v1 <test>",
      machine: "two cores",
      figures: [
        { ...figure, what: "GETs, rate", value: 2 },
        { ...figure, what: "GET, CPU", value: 0.25 },
        { ...figure, what: "RSS", value: 4 },
        { ...figure, what: "RSS, ours", value: 90, unit: "MiB" },
      ],
    });
    expect([...chart.matchAll(/class="(ahead|behind)"/g)].map(([, side]) => side)).to.deep.equal([
      "ahead",
      "ahead",
      "behind",
    ]);
    expect([...chart.matchAll(/>([\d.]+)×<\/text>/g)].map(([, times]) => times)).to.include.members([
      "2.0",
      "4.0",
      "0.25",
    ]);
    expect(chart).to.include("v1 &lt;test>");
  });
});

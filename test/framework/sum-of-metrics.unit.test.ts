// Metrics of several processes as those of one.
import { type MetricFamily, sumOfMetrics } from "@virtual-workspaces/framework/server";
import { expect } from "chai";

const gauge = (name: string, ...samples: readonly (readonly [string, number])[]): MetricFamily => ({
  ...{ name, help: "", type: "gauge", labelNames: ["of"] },
  samples: samples.map(([label, value]) => ({ labels: [label], value })),
});

const valuesOf = (families: readonly MetricFamily[], name: string): unknown => {
  const family = families.find((one) => one.name === name);
  return family?.samples.map(({ labels, ...data }) => [labels.join(), "value" in data ? data.value : data]);
};

describe("the sum of metrics of several processes", () => {
  it("adds counters and gauges of amounts, series by series", () => {
    const counter = (value: number): MetricFamily =>
      ({ ...gauge("requests_total", ["a", value]), type: "counter" }) as MetricFamily;
    const sum = sumOfMetrics([
      [counter(1), gauge("open", ["a", 1], ["b", 5])],
      [counter(2), gauge("open", ["a", 2])],
    ]);
    expect(valuesOf(sum, "requests_total")).to.deep.equal([["a", 3]]);
    expect(valuesOf(sum, "open")).to.deep.equal([
      ["a", 3],
      ["b", 5],
    ]);
  });

  it("adds the buckets of histograms, and leaves out a family of another shape", () => {
    const histogram = (bounds: readonly number[], counts: readonly number[]): MetricFamily => ({
      ...{ name: "seconds", help: "", type: "histogram", labelNames: [], bounds },
      samples: [{ labels: [], counts, count: 3, sum: 1.5 }],
    });
    const sum = sumOfMetrics([[histogram([1, 2], [1, 2])], [histogram([1, 2], [0, 3])], [histogram([1], [3])]]);
    expect(valuesOf(sum, "seconds")).to.deep.equal([["", { counts: [1, 5], count: 6, sum: 3 }]]);
  });

  it("takes the largest of times and versions, and the smallest of starts and readiness", () => {
    const of = (value: number): readonly MetricFamily[] =>
      ["lag_seconds", "node_info", "process_max_fds", "process_start_time_seconds", "backend_ready"].map((name) =>
        gauge(name, ["a", value]),
      );
    const sum = sumOfMetrics([of(2), of(1), of(Number.NaN)]);
    for (const name of ["lag_seconds", "node_info", "process_max_fds"])
      expect(valuesOf(sum, name), name).to.deep.equal([["a", 2]]);
    for (const name of ["process_start_time_seconds", "backend_ready"])
      expect(valuesOf(sum, name), name).to.deep.equal([["a", 1]]);
  });
});

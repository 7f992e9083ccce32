// Partitions and PartitionSets on a server, which validates selectors on write.
import { Partition, PartitionSet } from "@virtual-workspaces/kcp";
import { expect } from "chai";
import { causes, NOT_CHECKED, startKcp } from "./support/served.ts";

const KEYS =
  'Label key prefixes are optional and limited to 253 characters. They should match "^[a-z0-9]([-a-z0-9]{0,251}[a-z0-9])?$". Names are limited to 63 characters and should match "^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$". "/" is used as separator.';
const VALUES =
  "There should be at least one value for In and NotIn operators. There should not be any value for Exists and DoesNotExist operators.";

describe("Partitions", () => {
  it("allow a selector or nothing in a spec", async () => {
    await using server = await startKcp(Partition);
    expect(causes(await server.make({}))).to.deep.equal(["spec: Required value"]);
    expect(causes(await server.make({ spec: { selector: { matchExpressions: [{}] } } }))).to.deep.equal([
      "spec.selector.matchExpressions[0].key: Required value",
      "spec.selector.matchExpressions[0].operator: Required value",
    ]);
  });

  it("have a table with their owner", async () => {
    await using server = await startKcp(Partition);
    const owner = { apiVersion: "topology.kcp.io/v1alpha1", kind: "PartitionSet", name: "regions", uid: "u" };
    await server.make({ spec: {}, metadata: { name: "eu", ownerReferences: [owner] } });
    await server.make({ spec: {} });
    expect(await server.table()).to.deep.equal([
      ["Name", "Owner", "Age"],
      ["eu", "regions"],
      ["one", null],
    ]);
  });
});

describe("PartitionSets", () => {
  it("select by valid labels", async () => {
    await using server = await startKcp(PartitionSet);
    const labels = async (matchLabels: object) =>
      causes(await server.make({ spec: { shardSelector: { matchLabels } } }));
    const at = "spec.shardSelector.matchLabels: Invalid value:";
    expect(await labels({ "-": "a" })).to.deep.equal([`${at} ${KEYS}`]);
    expect(await labels({ "UP/a": "a" })).to.deep.equal([`${at} ${KEYS}`]);
    expect(await labels({ a: "-" })).to.deep.equal([
      `${at} Label values are limited to 63 characters and should match "^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$".`,
    ]);
    const many = Object.fromEntries(Array.from({ length: 11 }, (_, at) => [`a${at}`, "a"]));
    expect(await labels(many)).to.deep.equal([
      "spec.shardSelector.matchLabels: Too many: 11: must have at most 10 items",
      NOT_CHECKED,
    ]);
    expect(await labels({ "x/a": "b", c: "d" })).to.deep.equal(["201"]);
  });

  it("reject impossible expressions", async () => {
    await using server = await startKcp(PartitionSet);
    const demanded = async (...matchExpressions: readonly object[]) =>
      causes(await server.make({ spec: { shardSelector: { matchExpressions } } }));
    const at = "spec.shardSelector.matchExpressions";
    expect(
      await demanded(
        { key: "a b", operator: "Exists" },
        { key: "a", operator: "In", values: [] },
        { key: "a", operator: "DoesNotExist", values: ["b"] },
      ),
    ).to.deep.equal([
      `${at}[0].key: Invalid value: "a b": ${KEYS}`,
      `${at}[1]: Invalid value: ${VALUES}`,
      `${at}[2]: Invalid value: ${VALUES}`,
    ]);
    expect(await demanded({ key: "a", operator: "In" }), "kcp's rule reads what is not there").to.deep.equal([
      `${at}[0]: Invalid value: "object": no such key: values evaluating rule: ${VALUES}`,
    ]);
    expect(await demanded({ key: "a", operator: "Is", values: ["-"] })).to.deep.equal([
      `${at}[0].operator: Unsupported value: "Is": supported values: "In", "NotIn", "Exists", "DoesNotExist"`,
      `${at}[0].values[0]: Invalid value: "-": ${at}[0].values[0] in body should match '^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$'`,
      NOT_CHECKED,
    ]);
    expect(await demanded({ key: "x/a", operator: "In", values: ["b"] })).to.deep.equal(["201"]);
  });

  it("have a table with the count as a string", async () => {
    await using server = await startKcp(PartitionSet);
    await server.make({ spec: { dimensions: ["region"] } });
    await server.edit("one", (object) => Object.assign(object, { status: { count: 3 } }), "/status");
    expect(await server.table()).to.deep.equal([
      ["Name", "Count", "Age"],
      ["one", "3"],
    ]);
  });
});

import { memoryStore } from "@virtual-workspaces/store";
import { expect } from "chai";
import { refused } from "../contract/subject.ts";

describe("the first revision of an in-memory store", () => {
  it("leaves room for further ones", async () => {
    for (const revision of [0, 1.5, 2 ** 52 + 1]) await refused("Invalid", () => memoryStore({ revision }));
    expect(await memoryStore({ revision: 2 ** 52 }).head()).to.equal(2 ** 52);
  });
});

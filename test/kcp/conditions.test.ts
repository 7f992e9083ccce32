// kcp's conditions: their JSON after each change, and the one that Ready reports.
import {
  type Condition,
  deleteCondition,
  getCondition,
  isConditionFalse,
  isConditionTrue,
  isConditionUnknown,
  markFalse,
  markTrue,
  markUnknown,
  READY_CONDITION,
  setCondition,
  setSummary,
} from "@virtual-workspaces/kcp/conditions";
import { expect } from "chai";

const THEN = "2026-01-01T00:00:00Z";
const now = new Date("2026-11-22T03:04:05.678Z");
const NOW = "2026-11-22T03:04:05Z";

/** Returns frozen conditions, as another client may have written them. */
function kept(...states: readonly Partial<Condition>[]): readonly Condition[] {
  const conditions = states.map((state) =>
    Object.freeze({ type: "A", status: "True", lastTransitionTime: THEN, ...state }),
  );
  return Object.freeze(conditions);
}

/** Parses conditions, written as severity or status and type: `E:a` is an error, `T:b` is True. */
function states(...all: readonly string[]): readonly Condition[] {
  return kept(
    ...all.map((one) => {
      const [status = "", type = ""] = one.split(":");
      const why = { reason: `Reason${type}`, message: `about ${type}` };
      const severity = { E: "Error", W: "Warning", I: "Info", F: "" }[status];
      if (severity !== undefined) return { type, status: "False", severity, ...why };
      return status === "T" ? { type } : { type, status: status === "U" ? "Unknown" : "Perhaps", ...why };
    }),
  );
}

describe("conditions", () => {
  it("have kcp's field order, no empty fields and times in whole seconds", () => {
    const why = { reason: "Why", message: "for 100 %s" } as const;
    const sent = (conditions: readonly Condition[]): string => JSON.stringify(conditions);
    expect(sent(markTrue(undefined, "A", now))).to.equal(
      `[{"type":"A","status":"True","lastTransitionTime":"${NOW}"}]`,
    );
    expect(sent(markFalse([], { type: "A", severity: "Warning", ...why }, now))).to.equal(
      `[{"type":"A","status":"False","severity":"Warning","lastTransitionTime":"${NOW}","reason":"Why","message":"for 100 %s"}]`,
    );
    expect(sent(markUnknown([], { type: "A", ...why, message: "" }, now))).to.equal(
      `[{"type":"A","status":"Unknown","lastTransitionTime":"${NOW}","reason":"Why"}]`,
    );
  });

  it("are sorted with Ready first and the others by type", () => {
    const mixed = kept({ type: "b" }, { type: "Z" }, { type: "Ready" }, { type: "Ant" });
    const types = (conditions: readonly Condition[]) => conditions.map(({ type }) => type);
    expect(types(markTrue(mixed, "M", now))).to.deep.equal(["Ready", "Ant", "M", "Z", "b"]);
    expect(types(markTrue(mixed, "b", now)), "though nothing changed").to.deep.equal(["Ready", "Ant", "Z", "b"]);
    expect(types(markTrue(kept({ type: "B" }), READY_CONDITION, now))).to.deep.equal(["Ready", "B"]);
    expect(types(deleteCondition(mixed, "Ready")), "as they stood").to.deep.equal(["b", "Z", "Ant"]);
    expect(deleteCondition(undefined, "Ready")).to.deep.equal([]);
  });

  it("get a new time only when another field changes", () => {
    const was = { type: "A", status: "False", severity: "Info", reason: "Why", message: "so" };
    const time = (change: Partial<Condition>): string | undefined =>
      setCondition(kept(was), { ...was, ...change }, now)[0]?.lastTransitionTime;
    expect(time({})).to.equal(THEN);
    expect(time({ lastTransitionTime: "2020-01-01T00:00:00Z" })).to.equal(THEN);
    for (const change of [{ status: "True" }, { severity: "" }, { reason: "Other" }, { message: "thus" }])
      expect(time(change), JSON.stringify(change)).to.equal(NOW);
    expect(time({ message: "thus", lastTransitionTime: THEN }), "though one was given").to.equal(NOW);
  });

  it("keep the time of another object's condition when they are new", () => {
    const [from] = kept({ type: "A", status: "False", severity: "Error" });
    expect(from && setCondition([], from, now)).to.deep.equal([from]);
    expect(from && setCondition(kept({ type: "A" }), from, now)[0]).to.include({ lastTransitionTime: NOW });
  });

  it("treat empty strings like missing fields", () => {
    const empty = kept({ severity: "", reason: "", message: "" });
    expect(markTrue(empty, "A", now)).to.deep.equal(empty);
  });

  it("can be read by type", () => {
    const all = kept({ type: "T" }, { type: "F", status: "False" }, { type: "U", status: "Unknown" });
    expect(["T", "F", "U", "none"].map((type) => isConditionTrue(all, type))).to.deep.equal([
      true,
      false,
      false,
      false,
    ]);
    expect(["T", "F", "U", "none"].map((type) => isConditionFalse(all, type))).to.deep.equal([
      false,
      true,
      false,
      false,
    ]);
    expect(["T", "F", "U", "none"].map((type) => isConditionUnknown(all, type))).to.deep.equal([
      false,
      false,
      true,
      true,
    ]);
    expect([getCondition(all, "F"), getCondition(all, "none"), getCondition(undefined, "F")]).to.deep.equal([
      all[1],
      undefined,
      undefined,
    ]);
  });
});

describe("Ready, as the summary of conditions", () => {
  const ready = (conditions: readonly Condition[], types?: readonly string[]): unknown => {
    const summed = setSummary(conditions, { now, ...(types && { types }) });
    const { lastTransitionTime: _, type: __, ...state } = getCondition(summed, READY_CONDITION) ?? {};
    return state;
  };
  const False = (severity: string, type: string): object => ({
    status: "False",
    ...(severity !== "" && { severity }),
    reason: `Reason${type}`,
    message: `about ${type}`,
  });

  it("copies the worst: an error, a warning, info, then True, then Unknown", () => {
    expect(ready(states("T:a", "U:b", "I:c", "W:d", "E:e"))).to.deep.equal(False("Error", "e"));
    expect(ready(states("T:a", "U:b", "I:c", "W:d"))).to.deep.equal(False("Warning", "d"));
    expect(ready(states("T:a", "U:b", "I:c"))).to.deep.equal(False("Info", "c"));
    expect(ready(states("U:b", "T:a")), "True hides Unknown").to.deep.equal({ status: "True" });
    expect(ready(states("U:b"))).to.deep.equal({ status: "Unknown", reason: "Reasonb", message: "about b" });
  });

  it("ignores False without a severity while there is another condition, like kcp", () => {
    expect(ready(states("F:a", "T:b"))).to.deep.equal({ status: "True" });
    expect(ready(states("F:a", "U:b"))).to.deep.equal({ status: "Unknown", reason: "Reasonb", message: "about b" });
    expect(ready(states("F:a"))).to.deep.equal(False("", "a"));
    expect(ready(states("?:a"))).to.deep.equal({ status: "Unknown", reason: "Reasona", message: "about a" });
    expect(ready(states("?:b", "F:a")), "the first").to.deep.equal({
      status: "Unknown",
      reason: "Reasonb",
      message: "about b",
    });
  });

  it("has the reason and message of the first by type, or by the given order", () => {
    expect(ready(states("E:b", "E:a"))).to.deep.equal(False("Error", "a"));
    expect(ready(states("E:a", "E:b"), ["none", "b", "a"])).to.deep.equal(False("Error", "b"));
    expect(ready(states("E:a", "W:b"), ["b", "a"]), "bad comes before named").to.deep.equal(False("Error", "a"));
  });

  it("ignores Ready, and types that are not listed", () => {
    expect(ready(states("E:Ready", "T:a"))).to.deep.equal({ status: "True" });
    expect(ready(states("E:b", "T:a"), ["a"])).to.deep.equal({ status: "True" });
    const alone = states("E:Ready", "T:a");
    expect(setSummary(alone, { now, types: ["none"] }), "Ready stays").to.deep.equal(alone);
    expect(setSummary(undefined, { now })).to.deep.equal([]);
  });

  it("keeps its time while the summary is unchanged", () => {
    const first = setSummary(states("E:a", "E:b"), { now });
    const later = new Date("2027-01-01T00:00:00Z");
    expect(setSummary(first, { now: later })).to.deep.equal(first);
    const better = setSummary(markTrue(first, "a", later), { now: later });
    expect(getCondition(better, "Ready")).to.include({ reason: "Reasonb", lastTransitionTime: "2027-01-01T00:00:00Z" });
    expect(getCondition(better, "b")).to.include({ lastTransitionTime: THEN });
  });
});

import { humanDuration } from "@virtual-workspaces/apimachinery";
import { expect } from "chai";
import fc from "fast-check";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

const table: readonly [number, string][] = [
  [-2 * SECOND, "<invalid>"],
  [-2 * SECOND + 1, "0s"],
  [-1, "0s"],
  [0, "0s"],
  [SECOND - 1, "0s"],
  [SECOND, "1s"],
  [2 * MINUTE - 1, "119s"],
  [2 * MINUTE, "2m"],
  [2 * MINUTE + SECOND, "2m1s"],
  [10 * MINUTE - 1, "9m59s"],
  [10 * MINUTE, "10m"],
  [10 * MINUTE + SECOND, "10m"],
  [3 * HOUR - 1, "179m"],
  [3 * HOUR, "3h"],
  [3 * HOUR + MINUTE, "3h1m"],
  [8 * HOUR - 1, "7h59m"],
  [8 * HOUR + 59 * MINUTE, "8h"],
  [2 * DAY - 1, "47h"],
  [2 * DAY, "2d"],
  [2 * DAY + HOUR, "2d1h"],
  [8 * DAY - 1, "7d23h"],
  [8 * DAY + 23 * HOUR, "8d"],
  [2 * YEAR - 1, "729d"],
  [2 * YEAR, "2y"],
  [2 * YEAR + DAY, "2y1d"],
  [8 * YEAR - 1, "7y364d"],
  [8 * YEAR + 364 * DAY, "8y"],
];

describe("humanDuration", () => {
  for (const [ms, text] of table) it(`formats ${ms} ms as ${text}`, () => expect(humanDuration(ms)).to.equal(text));

  it("has at most two units", () => {
    fc.assert(
      fc.property(fc.nat(), (seconds) => {
        expect(humanDuration(seconds * SECOND)).to.match(/^\d+[smhdy](\d+[smhd])?$/);
      }),
    );
  });
});

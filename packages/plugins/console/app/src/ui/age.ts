import { signal } from "@preact/signals";
import { texts } from "../texts.ts";

/** Below this age, in ms, it is shown in seconds. */
const YOUNG = 120_000;
/** The time, every second while the page is visible, for ages in seconds: all of them count together. */
const second = signal(Date.now());
/** The time every ten seconds, for all other ages. */
const moment = signal(Date.now());

setInterval(() => {
  if (document.visibilityState !== "visible") return;
  second.value = Date.now();
  if (second.value - moment.value >= 10_000) moment.value = second.value;
}, 1_000);

/** Time since a timestamp, as kubectl shows ages. Components that read it are rendered again as time passes. */
export function ageOf(timestamp: string | undefined): string {
  const began = Date.parse(timestamp ?? "");
  if (Number.isNaN(began)) return "";
  const isYoung = Date.now() - began < YOUNG;
  const age = isYoung ? second.value - began : Math.max(YOUNG, moment.value - began);
  const seconds = Math.max(0, Math.floor(age / 1_000));
  const [minutes, hours, days] = [seconds / 60, seconds / 3_600, seconds / 86_400].map(Math.floor) as [
    number,
    number,
    number,
  ];
  if (isYoung) return texts.age.seconds(seconds);
  if (minutes < 120) return texts.age.minutes(minutes);
  if (hours < 48) return texts.age.hours(hours);
  return days < 730 ? texts.age.days(days) : texts.age.years(Math.floor(days / 365));
}

/** Date and time of a timestamp, in the language of the browser. */
export function dateOf(timestamp: string | undefined): string {
  const time = Date.parse(timestamp ?? "");
  return Number.isNaN(time) ? "" : new Date(time).toLocaleString();
}

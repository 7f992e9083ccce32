import { signal } from "@preact/signals";
import { texts } from "../texts.ts";

/** The time, every ten seconds while the page is visible: ages are computed from it. */
const now = signal(Date.now());

setInterval(() => {
  if (document.visibilityState === "visible") now.value = Date.now();
}, 10_000);

/** Time since a timestamp, as kubectl shows ages. Components that read it are rendered again as time passes. */
export function ageOf(timestamp: string | undefined): string {
  const began = Date.parse(timestamp ?? "");
  if (Number.isNaN(began)) return "";
  const seconds = Math.max(0, Math.floor((Math.max(now.value, Date.now()) - began) / 1_000));
  const [minutes, hours, days] = [seconds / 60, seconds / 3_600, seconds / 86_400].map(Math.floor) as [
    number,
    number,
    number,
  ];
  if (seconds < 120) return texts.age.seconds(seconds);
  if (minutes < 120) return texts.age.minutes(minutes);
  if (hours < 48) return texts.age.hours(hours);
  return days < 730 ? texts.age.days(days) : texts.age.years(Math.floor(days / 365));
}

/** Date and time of a timestamp, in the language of the browser. */
export function dateOf(timestamp: string | undefined): string {
  const time = Date.parse(timestamp ?? "");
  return Number.isNaN(time) ? "" : new Date(time).toLocaleString();
}

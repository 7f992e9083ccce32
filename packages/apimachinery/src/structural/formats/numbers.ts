/** A number of a credit card, with whatever stands between its digits (govalidator's IsCreditCard). */
export function isCreditCard(text: string): boolean {
  const digits = text.replace(/[^0-9]+/g, "");
  return ISSUERS.test(digits) && luhnSum(digits) % 10 === 0;
}

const ISSUERS =
  /^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35\d{3})\d{11})$/;

/** Every second digit from the right counts double, its own digits added up. */
function luhnSum(digits: string): number {
  let sum = 0;
  for (let at = digits.length - 1, double = false; at >= 0; at--, double = !double) {
    const digit = Number(digits[at]) * (double ? 2 : 1);
    sum += digit > 9 ? digit - 9 : digit;
  }
  return sum;
}

/** ISBN of ten characters, whose last may be an X. */
export function isIsbn10(text: string): boolean {
  const digits = withoutSeparators(text);
  if (!/^(?:[0-9]{9}X|[0-9]{10})$/.test(digits)) return false;
  let sum = 0;
  for (let at = 0; at < 10; at++) sum += (at + 1) * (digits[at] === "X" ? 10 : Number(digits[at]));
  return sum % 11 === 0;
}

/** ISBN of thirteen digits. */
export function isIsbn13(text: string): boolean {
  const digits = withoutSeparators(text);
  if (!/^[0-9]{13}$/.test(digits)) return false;
  let sum = 0;
  for (let at = 0; at < 12; at++) sum += Number(digits[at]) * (at % 2 === 0 ? 1 : 3);
  return Number(digits[12]) === (10 - (sum % 10)) % 10;
}

function withoutSeparators(text: string): string {
  return text.replace(/[\t\n\f\r -]+/g, "");
}

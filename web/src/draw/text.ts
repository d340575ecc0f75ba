// A text cut to a width, with a mark where something is missing.
export function fitText(context: CanvasRenderingContext2D, text: string, width: number): string {
  // A name may be very long: what cannot fit is not measured.
  const short = text.length > 400 ? text.slice(0, 400) : text;
  const whole = context.measureText(short).width;
  if (whole <= width) return short;
  let cut = Math.floor((short.length * width) / whole);
  while (cut > 0 && context.measureText(`${short.slice(0, cut)}…`).width > width) --cut;
  return cut > 2 ? `${short.slice(0, cut)}…` : '';
}

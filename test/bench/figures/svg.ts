/** Parts of drawings. Texts are not escaped. */

/** A whole drawing on white, in pixels. */
export function drawing(width: number, height: number, parts: readonly string[]): string {
  const size = `width="${width}" height="${height}"`;
  const style = 'font-family="sans-serif" font-size="11" fill="none"';
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} ${style}>
<rect width="100%" height="100%" fill="#fff"/>
${parts.join('\n')}
</svg>\n`;
}

export function text(x: number, y: number, anchor: string, words: string, colour = '#1f2328'): string {
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}" fill="${colour}">${words}</text>`;
}

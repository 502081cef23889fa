package quant

import (
	"fmt"

	"github.com/frescolm/fresco/internal/dtype"
)

// NVFP4Group is the number of columns that share a scale in NVFP4.
const NVFP4Group = 16

// GlobalScale says how the one scale of an NVFP4 matrix acts on those of its
// groups.
type GlobalScale uint8

// compressed-tensors stores 448·6/max|w| (weight_global_scale) and divides by
// it; modelopt stores its inverse (weight_scale_2) and multiplies.
const (
	Divide GlobalScale = iota
	Multiply
)

// NVFP4 is a weight matrix of e2m1 codes with one e4m3 scale for each group of
// 16 columns and one scale for all.
type NVFP4 struct {
	Rows, Cols int    // Cols is a multiple of 16
	Codes      []byte // [Rows, Cols/2], the even column in the low half
	Scales     []byte // e4m3, [Rows, Cols/16]
	Global     float32
	Form       GlobalScale
}

// Check is an error when the parts do not fit together.
func (w *NVFP4) Check() error {
	switch {
	case w.Rows < 0 || w.Cols < 0 || w.Cols%NVFP4Group != 0:
		return fmt.Errorf("quant: NVFP4: a matrix of %d×%d in groups of %d columns", w.Rows, w.Cols, NVFP4Group)
	case w.Form > Multiply:
		return fmt.Errorf("quant: NVFP4: unknown form %d of the global scale", w.Form)
	case !area(w.Rows, w.Cols/2, len(w.Codes)):
		return fmt.Errorf("quant: NVFP4: %d bytes of codes for a matrix of %d×%d", len(w.Codes), w.Rows, w.Cols)
	case !area(w.Rows, w.Cols/NVFP4Group, len(w.Scales)):
		return fmt.Errorf("quant: NVFP4: %d scales for a matrix of %d×%d", len(w.Scales), w.Rows, w.Cols)
	}
	return nil
}

// DecodeRow sets dst, of Cols elements, to row r. The scale of a group is
// formed with the global one first and rounded to float32; the product with the
// code is rounded again. The arithmetic is plain: a scale of NaN or a global
// scale of 0 gives what float32 makes of it.
func (w *NVFP4) DecodeRow(dst []float32, r int) error {
	if err := w.Check(); err != nil {
		return err
	}
	if r < 0 || r >= w.Rows || len(dst) != w.Cols {
		return fmt.Errorf("quant: NVFP4: row %d to %d elements from a matrix of %d×%d", r, len(dst), w.Rows, w.Cols)
	}
	codes := w.Codes[r*(w.Cols/2):][:w.Cols/2]
	for g, s := range w.Scales[r*(w.Cols/NVFP4Group):][:w.Cols/NVFP4Group] {
		d := dtype.FromE4M3(s)
		if w.Form == Divide {
			d /= w.Global
		} else {
			d *= w.Global
		}
		y := (*[NVFP4Group]float32)(dst[g*NVFP4Group:])
		for j, c := range (*[NVFP4Group / 2]byte)(codes[g*NVFP4Group/2:]) {
			y[2*j] = dtype.FromE2M1(c) * d
			y[2*j+1] = dtype.FromE2M1(c>>4) * d
		}
	}
	return nil
}

package main

import (
	"encoding/binary"
	"math"

	v1 "contract/gen/fidelio/v1"
)

func low(x []float64) float64  { return math.Sin(8*x[0]) + 0.3*x[1] }
func high(x []float64) float64 { return 2*low(x) + x[0] - x[1] }

func halton(index, base int) float64 {
	value, scale := 0.0, 1.0
	for ; index > 0; index /= base {
		scale /= float64(base)
		value += float64(index%base) * scale
	}
	return value
}

func points(first, count int) [][]float64 {
	rows := make([][]float64, count)
	for i := range rows {
		rows[i] = []float64{halton(first+i, 2), halton(first+i, 3)}
	}
	return rows
}

// outputs: a column of f at the rows.
func outputs(f func([]float64) float64, rows [][]float64) [][]float64 {
	column := make([][]float64, len(rows))
	for i, row := range rows {
		column[i] = []float64{f(row)}
	}
	return column
}

func asBytes(rows [][]float64) *v1.Matrix {
	var bytes []byte
	for _, row := range rows {
		for _, number := range row {
			bytes = binary.LittleEndian.AppendUint64(bytes, math.Float64bits(number))
		}
	}
	return &v1.Matrix{Rows: uint32(len(rows)), Cols: uint32(len(rows[0])), Data: &v1.Matrix_F64Le{F64Le: bytes}}
}

func asValues(rows [][]float64) *v1.Matrix {
	list := &v1.DoubleList{}
	for _, row := range rows {
		list.Values = append(list.Values, row...)
	}
	return &v1.Matrix{Rows: uint32(len(rows)), Cols: uint32(len(rows[0])), Data: &v1.Matrix_Values{Values: list}}
}

func numbers(matrix *v1.Matrix) []float64 {
	if values := matrix.GetValues(); values != nil {
		return values.Values
	}
	all := make([]float64, matrix.Rows*matrix.Cols)
	for i := range all {
		all[i] = math.Float64frombits(binary.LittleEndian.Uint64(matrix.GetF64Le()[8*i:]))
	}
	return all
}
